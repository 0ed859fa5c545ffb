package main

import (
	"fmt"
	"io"
	"os"

	"skep/document"
)

// readFile reads a file of the user, or the standard input for "-".
func (a *app) readFile(name string) ([]byte, error) {
	r := a.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("file %q: %w", name, withoutPath(err))
		}
		defer file.Close()
		r = file
	}
	b, err := io.ReadAll(io.LimitReader(r, document.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("file %q: %w", name, withoutPath(err))
	}
	return b, nil
}
