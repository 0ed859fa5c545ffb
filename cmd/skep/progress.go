package main

import (
	"fmt"
	"io"
	"time"
)

// progress is a line on a terminal that shows the progress of long work, and the remaining time; nothing if the output
// is no terminal.
type progress struct {
	w     io.Writer
	on    bool
	began time.Time
	last  time.Time
	wrote bool
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, on: isTerminal(w), began: time.Now()}
}

// show shows which share of the work is done.
func (p *progress) show(done float64, what string) {
	if !p.on || time.Since(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.wrote = time.Now(), true
	left := ""
	if spent := time.Since(p.began); done > 0.01 && spent > time.Second {
		left = ", " + age(time.Duration(float64(spent)*(1-done)/done)) + " left"
	}
	fmt.Fprintf(p.w, "\r\033[K%3.0f %%  %s%s", 100*done, what, left)
}

// clear removes the line.
func (p *progress) clear() {
	if p.wrote {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
