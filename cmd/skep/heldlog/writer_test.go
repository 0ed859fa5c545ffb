package heldlog

import (
	"bytes"
	"strings"
	"testing"
)

// Nothing is written before the release, all of it then, in order; and what follows at once.
func TestHeldUntilReleased(t *testing.T) {
	var out bytes.Buffer
	w := New(&out)
	for _, s := range []string{"a\n", "b\n"} {
		if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	if out.Len() > 0 {
		t.Errorf("before its release: %q", out.String())
	}
	w.Release()
	w.Release()
	if w.Write([]byte("c\n")); out.String() != "a\nb\nc\n" {
		t.Errorf("%q", out.String())
	}
}

func TestReleasedBeyondItsBound(t *testing.T) {
	var out bytes.Buffer
	w := New(&out)
	w.Write([]byte("first\n"))
	w.Write([]byte(strings.Repeat("x", most)))
	if !strings.HasPrefix(out.String(), "first\nx") || out.Len() != most+6 {
		t.Errorf("%d bytes of %d are written", out.Len(), most+6)
	}
}
