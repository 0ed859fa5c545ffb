// Package registers is what package coordinator asks of package replication. These two do not know each other.
package registers
