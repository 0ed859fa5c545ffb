package grid

import (
	"fmt"
	"time"
)

// Bounds of what a task says of its progress.
const (
	MaxProgress     = 1e15 // DONE and TOTAL
	MaxProgressText = 128  // bytes of TEXT
	MaxReports      = 64   // reports in a beat
)

// ProgressEvery is the shortest time between two reports of an attempt that are passed on. Lower costs its node an
// event more often; higher makes what people see older.
const ProgressEvery = time.Second

// Progress is how far a task says that it is, in units of its own.
type Progress struct {
	Done, Total float64 // finite, 0 to MaxProgress; Total 0 = not known, and Done may be more than Total
	Text        string  // printable, at most MaxProgressText bytes
	Rejected    uint32  // lines of the attempt that said no progress
}

// Check returns an error for what no node passes on.
func (p *Progress) Check() error {
	if !(p.Done >= 0 && p.Done <= MaxProgress) || !(p.Total >= 0 && p.Total <= MaxProgress) {
		return fmt.Errorf("progress %g of %g: want numbers of 0 to %g", p.Done, p.Total, float64(MaxProgress))
	}
	if len(p.Text) > MaxProgressText || !Printable(p.Text) {
		return fmt.Errorf("progress text %.40q: want at most %d bytes of printable text", p.Text, MaxProgressText)
	}
	return nil
}

// Report is what a worker says of one of the attempts in a beat, beside that it has it.
type Report struct {
	At       int  // its place among the attempts
	Queued   bool // it waits there; else it has started
	Said     bool // Progress is set
	Progress Progress
}
