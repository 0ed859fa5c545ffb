package runner

import (
	"errors"
	"io"

	"skep/exec/session"
	"skep/exec/terminal"
)

// terminal is the running task, if it has a terminal.
func (s *stdinStream) terminal() task {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.screen {
		return nil
	}
	return s.task
}

// copyTyped gives a task what is typed at its terminal. The error is as copyStdin's, but that the end of the stream is
// none in order: whoever sat there is gone.
func copyTyped(from io.Reader, p task) error {
	err := session.Typed(from, func(b []byte) error {
		if p.Type(b) != nil {
			return errReaderGone
		}
		return nil
	}, func(s terminal.Size) { p.Resize(s) })
	if errors.Is(err, io.EOF) {
		return errSenderGone
	}
	return err
}
