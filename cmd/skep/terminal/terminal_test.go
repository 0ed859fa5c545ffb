//go:build linux

package terminal

import (
	"os"
	"testing"

	"skep/internal/screen"
)

// open returns a terminal of 24 rows and 80 columns, as this program's standard input, and what is seen on it.
func open(t *testing.T) (*Terminal, *screen.Terminal) {
	t.Helper()
	x := screen.Open(t, screen.Options{Rows: 24, Columns: 80})
	tty, err := Open(x.File)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tty.Restore)
	return tty, x
}

// What a task prints is shown as its terminal meant it from the first line on: that line may come before the node asks
// for what is typed.
func TestTheFirstLineTakesTheTerminal(t *testing.T) {
	tty, x := open(t)
	out := tty.Screen(x.File)
	if x.Taken() {
		t.Error("it was taken before the task printed")
	}
	if _, err := out.Write([]byte("first\r\n")); err != nil {
		t.Fatal(err)
	}
	x.Prints("first\r\n") // one that is not taken makes \r\r\n of it
	if !x.Taken() {
		t.Error("it was not taken")
	}
	tty.Restore()
	if x.Taken() {
		t.Error("it was not given back")
	}
	if _, err := out.Write([]byte("rest\n")); err != nil { // of a task that has ended
		t.Fatal(err)
	}
	x.Prints("rest\r\n")
	if x.Taken() {
		t.Error("it was taken again")
	}
}

// It is taken once, by whichever comes first, and given back as it was before.
func TestTakenOnce(t *testing.T) {
	tty, x := open(t)
	for range 2 {
		if err := tty.Take(); err != nil {
			t.Fatal(err)
		}
	}
	keys := make(chan byte)
	go func() {
		defer close(keys)
		b := make([]byte, 64)
		for k := tty.Keys(); ; {
			n, err := k.Read(b)
			if err != nil {
				return
			}
			for _, c := range b[:n] {
				keys <- c
			}
		}
	}()
	x.Type("q")
	for c := range keys { // the size of the window comes before it, in a frame of its own
		if c == 'q' {
			break
		}
	}
	tty.Restore()
	for range keys {
	}
	x.Type("\r") // ends the read that goes on
	if x.Taken() {
		t.Error("the modes are not those of before")
	}
}

func TestNoTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, in := range []*os.File{nil, f} {
		if _, err := Open(in); err != ErrNone {
			t.Errorf("%v: want %v", err, ErrNone)
		}
	}
}
