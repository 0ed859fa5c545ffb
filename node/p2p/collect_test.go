package p2p

import (
	"path/filepath"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/p2p/internal/rig"
)

// Two output files, room for one: the task must not succeed with one of them, since its submitter asked for both
// and would not check.
func TestTaskIsLostIfItsOutputCannotBeStored(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), func(c *Config) { c.CacheSize = 100_000 })
	spec := rig.Sh("head -c 60000 /dev/urandom > x; head -c 60000 /dev/urandom > y; head -c 30000 /dev/urandom")
	spec.Outputs, spec.Retries = []string{"x", "y"}, 0
	r := a.run(1, spec)
	if r.Cause != grid.Lost || r.Exit != grid.ExitSkep || len(r.Blobs(nil)) > 0 || !strings.Contains(r.Error, "full") {
		t.Errorf("%+v: want it to be lost, since the blob folder is full", r)
	}
	if n := a.Blobs().Size(); n == 0 || a.run(2, rig.Sh("head -c 90000 /dev/urandom")).Exit != 0 {
		t.Errorf("%d bytes of the lost task are held: want them to give way", n)
	}
}

func TestOutputWithATooLongPathIsReported(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	spec := rig.Sh("d=$(printf %0200d 1); mkdir -p $d/$d/$d/$d/$d; echo x > $d/$d/$d/$d/$d/$d; echo y > short; ln -s " +
		"short link; mkfifo pipe")
	spec.Outputs = []string{"**"}
	r := a.run(1, spec)
	if len(r.Outputs) != 1 || r.Outputs[0].Path != "short" || !strings.Contains(r.Error, "its path of 1205 bytes") ||
		len(r.Error) > grid.MaxText {
		t.Errorf("outputs %v, error %q: want one file, and a word about the one that is left out", r.Outputs, r.Error)
	}
}

// File names are arbitrary bytes. Names that are not printable text are neither collected nor repeated in the
// error.
func TestOutputNamesArePrintable(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	spec := rig.Sh(`for f in good "$(printf 'evil\302\2332J')" "$(printf 'evil\342\200\256')" "$(printf 'evil\nline')" "$(printf 'evil\377')"; do echo x > "$f"; done`)
	spec.Outputs = []string{"*"}
	r := a.run(1, spec)
	if len(r.Outputs) != 1 || r.Outputs[0].Path != "good" || strings.Count(r.Error, "printable text") != 4 ||
		!grid.Printable(r.Error) || r.Exit != grid.ExitSkep {
		t.Errorf("outputs %v, error %q, exit %d: want one file, and a word about the others", r.Outputs, r.Error, r.Exit)
	}
	spec = rig.Sh("")
	spec.Command = []string{"./no\u009b2J\u202esuch"}
	if r = a.run(2, spec); r.Error == "" || !grid.Printable(r.Error) {
		t.Errorf("error %q", r.Error)
	}
}

// A task that replaces its work folder by a link gets no file of the node collected: in its sandbox it cannot.
func TestWorkFolderSymlinkIsNotFollowed(t *testing.T) {
	data := filepath.Join(t.TempDir(), "a")
	a := openMember(t, data, nil)
	spec := rig.Sh("cd /task && mv work w2 && ln -s " + data + " work || mv tmp t2")
	spec.Outputs = []string{"secret", "identity*"}
	if r := a.run(1, spec); len(r.Outputs) > 0 || r.Exit == 0 {
		t.Errorf("outputs %v, exit %d: want none, and what the task tried to fail", r.Outputs, r.Exit)
	}
}
