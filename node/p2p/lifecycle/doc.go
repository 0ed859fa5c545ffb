// Package lifecycle is about goroutines that end with their owner.
package lifecycle
