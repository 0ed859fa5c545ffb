// Package lpas solves the allocation LP.
package lpas
