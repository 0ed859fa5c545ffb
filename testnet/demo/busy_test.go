package demo

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestBusyMachineIsSaid(t *testing.T) {
	const want = "too busy to compare: other programs leave 0.4 cores' worth of time"
	if note := busyNote(0.4); !strings.Contains(note, want) {
		t.Errorf("%q", note)
	}
	if note := busyNote(leastSpare); note != "" {
		t.Errorf("said of a machine that is idle enough: %q", note)
	}
	if n := spare(20 * time.Millisecond); !(n > 0 && n < float64(runtime.NumCPU())+1) {
		t.Errorf("%g cores are spare", n)
	}
}
