package prefix

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// Lines of two streams alternate whole, however they come, and a last line without an end gets one.
func TestLinesStayWhole(t *testing.T) {
	var out bytes.Buffer
	var mu sync.Mutex
	a, b := NewWriter(&out, &mu, "[0] "), NewWriter(&out, &mu, "[1] ")
	for _, part := range []struct {
		w    *Writer
		text string
	}{{a, "on"}, {b, "two\nth"}, {a, "e\n\nfo"}, {b, "ree\n"}} {
		if n, err := part.w.Write([]byte(part.text)); n != len(part.text) || err != nil {
			t.Fatal(n, err)
		}
	}
	a.EndLine()
	b.EndLine()
	if want := "[1] two\n[0] one\n[0] \n[1] three\n[0] fo\n"; out.String() != want {
		t.Errorf("%q: want %q", out.String(), want)
	}
}

// A line without an end does not grow without bound.
func TestLongLine(t *testing.T) {
	var out bytes.Buffer
	var mu sync.Mutex
	w := NewWriter(&out, &mu, "> ")
	for range 10 {
		_, _ = w.Write([]byte(strings.Repeat("x", 20_000)))
	}
	if cap(w.line) > 4*maxLine || out.Len() < 100_000 {
		t.Errorf("%d bytes are kept, %d written", cap(w.line), out.Len())
	}
}
