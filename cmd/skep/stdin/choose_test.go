package stdin

import (
	"os"
	"strings"
	"testing"
	"time"
)

// given returns the read end of a pipe with something in it, which no other process has.
func given(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	w.Write([]byte("x"))
	return r
}

func TestChoose(t *testing.T) {
	pipe := given(t)
	ended, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ended.Close()
	w.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	tests := []struct {
		name string
		want Want
		in   *os.File
		mode string
		left bool   // something is said of an input that is left
		err  string // in the error
	}{
		{"a pipe", Want{}, pipe, One, false, ""},
		{"a pipe that has ended", Want{}, ended, None, false, ""},
		{"a device", Want{}, null, None, false, ""},
		{"nothing", Want{}, nil, None, false, ""},
		{"a pipe, for several", Want{Count: 2}, pipe, None, true, ""},
		{"a pipe, left alone", Want{Detach: true}, pipe, None, true, ""},
		{"a pipe, to be sent twice", Want{Retries: 1}, pipe, "", false, "want --stdin each"},
		{"a pipe, to a backup attempt", Want{Idempotent: true}, pipe, "", false, "want --stdin each"},
		{"a pipe, to be sent again after a failure", Want{RetryFailed: 1}, pipe, "", false, "want --stdin each"},
		{"lines", Want{Lines: true, Retries: 1}, pipe, None, false, ""},
		{"lines, and for the task", Want{Lines: true, Mode: Each}, pipe, "", false, "want --each-line FILE"},
		{"lines, and -i", Want{Lines: true, Interactive: true}, pipe, "", false, "want --each-line FILE"},
		{"not wanted", Want{Mode: None, Retries: 1}, pipe, None, false, ""},
		{"a device, wanted", Want{Interactive: true}, null, One, false, ""},
		{"kept", Want{Mode: Each, Count: 5, Retries: 2, Detach: true}, pipe, Each, false, ""},
		{"one for several", Want{Mode: One, Count: 2}, pipe, "", false, "--stdin one with 2 tasks"},
		{"one left alone", Want{Mode: One, Detach: true}, pipe, "", false, "--stdin one with --detach"},
		{"two answers", Want{Mode: Each, Interactive: true}, pipe, "", false, "-i with --stdin each"},
		{"a terminal", Want{Terminal: true, Interactive: true}, null, One, false, ""},
		{"a terminal for several", Want{Terminal: true, Count: 2}, null, "", false, "-t with 2 tasks"},
		{"a terminal, left alone", Want{Terminal: true, Detach: true}, null, "", false, "-t with --detach"},
		{"a terminal twice", Want{Terminal: true, Retries: 1}, null, "", false, "-t with --retries 1"},
		{"a terminal, run again", Want{Terminal: true, RetryFailed: 1}, null, "", false, "-t with --retry-failed 1"},
		{"a terminal, copied", Want{Terminal: true, Idempotent: true}, null, "", false, "-t with --idempotent"},
		{"a terminal, kept", Want{Terminal: true, Mode: Each}, null, "", false, "-t with --stdin each: want one of them"},
		{"a terminal, and lines", Want{Terminal: true, Lines: true}, null, "", false, "-t with --each-line -"},
		{"no answer", Want{Mode: "all"}, pipe, "", false, "want auto, none, one or each"},
	}
	for _, tt := range tests {
		if tt.want.Mode == "" {
			tt.want.Mode = Auto
		}
		mode, left, err := Choose(&tt.want, tt.in)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v: want %q", tt.name, err, tt.err)
			}
			continue
		}
		if mode != tt.mode || (left != "") != tt.left || err != nil {
			t.Errorf("%s: %s, %q, %v: want %s", tt.name, mode, left, err, tt.mode)
		}
	}
}

// A pipe that its writer closes a moment later holds nothing, also where an input would be refused; what is written a
// moment later is one.
func TestChooseOfASlowPipe(t *testing.T) {
	for _, text := range []string{"", "x"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		time.AfterFunc(20*time.Millisecond, func() {
			w.WriteString(text)
			w.Close()
		})
		mode, _, err := Choose(&Want{Mode: Auto, RetryFailed: 1}, r)
		if ended := mode == None && err == nil; ended != (text == "") {
			t.Errorf("a pipe with %q: %s, %v", text, mode, err)
		}
	}
}

// A pipe that is left alone anyway is not waited for.
func TestChooseWithoutWaiting(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	begin := time.Now()
	for range 20 {
		if mode, left, err := Choose(&Want{Mode: Auto, Count: 2}, r); mode != None || left == "" || err != nil {
			t.Fatalf("%s, %q, %v", mode, left, err)
		}
	}
	if took := time.Since(begin); took > 20*patienceToRefuse/2 {
		t.Errorf("it took %v", took)
	}
}

// A file of which somebody has read is theirs, and one that was read to its end holds nothing.
func TestChooseOfAFile(t *testing.T) {
	name := t.TempDir() + "/list"
	if err := os.WriteFile(name, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, step := range []struct {
		at   int64
		mode string
		left bool
	}{{0, One, false}, {4, None, true}, {8, None, false}} {
		f.Seek(step.at, 0)
		mode, left, err := Choose(&Want{Mode: Auto}, f)
		if mode != step.mode || (left != "") != step.left || err != nil || Waiting(f) != (step.at < 8) {
			t.Errorf("at %d: %s, %q, %v, waiting %v", step.at, mode, left, err, Waiting(f))
		}
	}
}
