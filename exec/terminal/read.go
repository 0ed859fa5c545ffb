//go:build unix

package terminal

import (
	"errors"
	"syscall"
)

// Read calls read, which reads what programs print on a terminal, and returns its answer. syscall.EIO is the end: all
// that had the terminal open are gone, and nothing is left of what they printed. Linux may say so once before it shows
// the last of that, where a key was a signal to a program that then printed and ended.
func Read(read func() (int, error)) (int, error) {
	n, err := read()
	if errors.Is(err, syscall.EIO) {
		return read()
	}
	return n, err
}
