//go:build linux

package screen

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/vt"
)

// emulator is the screen of a whole terminal.
type emulator struct {
	*vt.Emulator
	answered chan struct{} // nothing more is answered
}

// newEmulator returns a screen that answers questions about itself on the terminal.
func newEmulator(columns, rows int, host *os.File) *emulator {
	e := &emulator{vt.NewEmulator(columns, rows), make(chan struct{})}
	go func() {
		defer close(e.answered)
		_, _ = io.Copy(host, e.Emulator)
	}()
	return e
}

func (e *emulator) close() {
	_ = e.Close()
	<-e.answered
}

// Text implements display.
func (e *emulator) Text() string {
	lines := strings.Split(e.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Faults implements display: whatever is written is emulated.
func (e *emulator) Faults() []string { return nil }

// Altered implements display: the other screen is shown, or no cursor.
func (e *emulator) Altered() bool { return e.IsAltScreen() || e.CursorHidden() }
