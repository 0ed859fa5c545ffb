// Package wire is the bytes of Skep.
package wire
