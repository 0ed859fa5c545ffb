//go:build unix

package screen

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/creack/pty"
)

// Terminal is a pseudo-terminal with a screen.
type Terminal struct {
	File *os.File // what a program writes to

	host   *os.File
	done   chan struct{}
	more   chan struct{} // something was written
	mu     sync.Mutex
	screen *Screen
}

// Open opens a terminal of 24 lines. Close ends it.
func Open(columns int) (*Terminal, error) {
	host, program, err := pty.Open()
	if err != nil {
		return nil, err
	}
	if err := pty.Setsize(host, &pty.Winsize{Rows: 24, Cols: uint16(columns)}); err != nil {
		return nil, err
	}
	t := &Terminal{File: program, host: host, done: make(chan struct{}), more: make(chan struct{}, 1),
		screen: New(columns)}
	go t.read()
	return t, nil
}

func (t *Terminal) read() {
	defer close(t.done)
	b := make([]byte, 4096)
	for {
		n, err := t.host.Read(b)
		if err != nil {
			return
		}
		t.mu.Lock()
		t.screen.Write(b[:n])
		t.mu.Unlock()
		select {
		case t.more <- struct{}{}:
		default:
		}
	}
}

// Close ends the terminal.
func (t *Terminal) Close() {
	t.File.Close()
	<-t.done
	t.host.Close()
}

// Await waits for at most a minute until the screen is as wanted, and returns its text. What a program should not have
// written is an error.
func (t *Terminal) Await(is func(text string) bool) (string, error) {
	limit := time.After(time.Minute)
	for {
		t.mu.Lock()
		text, faults := t.screen.Text(), t.screen.Faults()
		t.mu.Unlock()
		switch {
		case len(faults) > 0:
			return text, fmt.Errorf("%q was written", faults)
		case is(text):
			return text, nil
		}
		select {
		case <-t.more:
		case <-limit:
			return text, fmt.Errorf("there is only\n%s", text)
		}
	}
}
