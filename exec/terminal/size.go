//go:build unix

package terminal

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Size is the size of a terminal's window in characters. 0 rows or columns: not known.
type Size struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// Set sets the size of a terminal, by either of its ends. The programs in its foreground are told by SIGWINCH if it has
// changed.
func Set(f *os.File, s Size) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("set size of terminal: %w", err)
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: s.Rows, Col: s.Cols})
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("set size of terminal: %w", err)
	}
	return nil
}
