//go:build unix

package session

import (
	"encoding/json"
	"io"

	"skep/exec/terminal"
)

// Typing returns frames of what is typed at a terminal and of its sizes, for a stream that brings a task its input. It
// ends when the terminal does. The caller closes it; a read of the terminal may go on.
func Typing(keys io.Reader, sizes <-chan terminal.Size) io.ReadCloser {
	r, to := io.Pipe()
	w, over := &writer{w: to}, make(chan struct{})
	go func() {
		defer close(over)
		w.copy(kindInput, keys)
		to.Close()
	}()
	go func() {
		for {
			select {
			case s := <-sizes:
				if w.writeJSON(kindResize, s) != nil {
					return
				}
			case <-over:
				return
			}
		}
	}()
	return r
}

// Typed calls write with what is typed, and resize with sizes, as Typing sent them. It returns the first error of write
// or of from, io.EOF at its end.
func Typed(from io.Reader, write func([]byte) error, resize func(terminal.Size)) error {
	in := &reader{r: from, most: maxContent}
	for {
		k, content, err := in.next()
		if err != nil {
			return err
		}
		switch k {
		case kindInput:
			if err := write(content); err != nil {
				return err
			}
		case kindResize:
			var size terminal.Size
			if json.Unmarshal(content, &size) == nil {
				resize(size)
			}
		}
	}
}
