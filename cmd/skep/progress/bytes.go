package progress

import "io"

// Transfer is the progress of bytes that are moved.
type Transfer struct {
	d     *Display
	state State
}

// Transfer begins to show bytes that are moved, of so many.
func (d *Display) Transfer(what string, total int64) *Transfer {
	return &Transfer{d: d, state: State{What: what, Unit: Bytes, Total: float64(total)}}
}

// Add counts bytes; part is the part of the work that is done with them, so that bytes that are read twice count half
// each time.
func (t *Transfer) Add(n int64, part float64) {
	t.state.Done = min(t.state.Done+float64(n)*part, t.state.Total)
	t.d.Show(t.state)
}

// Counter returns a writer that counts what is written to it.
func (t *Transfer) Counter(part float64) io.Writer { return counter{t, part} }

type counter struct {
	t    *Transfer
	part float64
}

// Write counts.
func (c counter) Write(p []byte) (int, error) {
	c.t.Add(int64(len(p)), c.part)
	return len(p), nil
}
