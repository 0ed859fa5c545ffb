//go:build linux

package screen

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// Await waits until the screen is as wanted, and returns its text. What should not have been written is an error.
func (x *Terminal) Await(what string, is func(text string) bool) (text string) {
	x.t.Helper()
	x.await(what, func() bool { text = x.screen.Text(); return is(text) })
	return text
}

// Shows waits until the screen has all of some words, and returns its text.
func (x *Terminal) Shows(words ...string) string {
	x.t.Helper()
	return x.Await(fmt.Sprintf("%q", words), func(text string) bool { return hasAll(text, words) })
}

// LastLine waits until the last line of the screen has all of some words, and returns the text of the screen.
func (x *Terminal) LastLine(words ...string) string {
	x.t.Helper()
	return x.Await(fmt.Sprintf("%q in the last line", words), func(text string) bool {
		return hasAll(text[strings.LastIndexByte(text, '\n')+1:], words)
	})
}

// Prints waits until a text was written, of which nothing need be seen any more.
func (x *Terminal) Prints(text string) {
	x.t.Helper()
	x.await(fmt.Sprintf("%q", text), func() bool { return bytes.Contains(x.raw.Bytes(), []byte(text)) })
}

func hasAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// await waits for a condition, which changes with what is written.
func (x *Terminal) await(what string, is func() bool) {
	x.t.Helper()
	for limit := time.After(patience); ; {
		x.mu.Lock()
		met, faults, text := is(), x.screen.Faults(), x.screen.Text()
		x.mu.Unlock()
		if len(faults) > 0 {
			x.t.Fatalf("%q was written", faults)
		}
		if met {
			return
		}
		select {
		case <-x.more:
		case <-limit:
			x.t.Fatalf("the terminal does not show %s: there is only\n%s\nwritten: %q\nits program %s", what, text, x.Written(),
				x.state())
		}
	}
}

// state says for people whether the program runs.
func (x *Terminal) state() string {
	if x.cmd == nil {
		return "was not started"
	}
	select {
	case <-x.ended:
		return "has ended: " + x.cmd.ProcessState.String()
	default:
		return "runs"
	}
}
