package p2p

import (
	"path/filepath"
	"strings"
	"testing"

	"skep/grid"
)

// Two files of which there is room for one: that is no success with one of them, since who asked for both would not look.
func TestATaskWhoseOutputCannotBeKeptIsLost(t *testing.T) {
	a := begin(t, filepath.Join(t.TempDir(), "a"), func(c *Config) { c.CacheSize = 100_000 })
	spec := sh("head -c 60000 /dev/urandom > x; head -c 60000 /dev/urandom > y; head -c 30000 /dev/urandom")
	spec.Outputs, spec.Retries = []string{"x", "y"}, 0
	r := a.run(1, spec)
	if r.Cause != grid.Lost || r.Exit != grid.ExitSkep || len(r.Blobs(nil)) > 0 || !strings.Contains(r.Error, "full") {
		t.Errorf("%+v: want it to be lost, since the blob folder is full", r)
	}
	if n := a.Blobs().Size(); n == 0 || a.run(2, sh("head -c 90000 /dev/urandom")).Exit != 0 {
		t.Errorf("%d bytes of the lost task are held: want them to give way", n)
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
