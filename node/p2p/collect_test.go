package p2p

import (
	"path/filepath"
	"strings"
	"testing"

	"skep/grid"
)

func TestWhatATaskLeftIsKeptWhole(t *testing.T) {
	a := begin(t, filepath.Join(t.TempDir(), "a"), func(c *Config) { c.CacheSize = 100_000 })
	spec := sh("head -c 60000 /dev/urandom > x; head -c 60000 /dev/urandom > y; head -c 30000 /dev/urandom")
	spec.Outputs = []string{"x", "y"}
	r := a.run(1, spec)
	if len(r.Outputs) != 1 || !strings.Contains(r.Error, "full") {
		t.Errorf("outputs %v, error %q: want the one that there is room for, and a word about the other", r.Outputs, r.Error)
	}
	for _, f := range r.Blobs(nil) {
		if !a.holds(f) {
			t.Errorf("%q is named and not there", f.Path)
		}
	}
}

func TestAnOutputThatCannotTravelIsNamed(t *testing.T) {
	a := begin(t, filepath.Join(t.TempDir(), "a"), nil)
	spec := sh("d=$(printf %0200d 1); mkdir -p $d/$d/$d/$d/$d; echo x > $d/$d/$d/$d/$d/$d; echo y > short; ln -s short link; mkfifo pipe")
	spec.Outputs = []string{"**"}
	r := a.run(1, spec)
	if len(r.Outputs) != 1 || r.Outputs[0].Path != "short" || !strings.Contains(r.Error, "its path of 1205 bytes") || len(r.Error) > grid.MaxText {
		t.Errorf("outputs %v, error %q: want one file, and a word about the one that is left out", r.Outputs, r.Error)
	}
}
