package digests

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// spy notes what is reported of a test.
type spy struct {
	testing.TB
	errors int
	ends   []func()
}

func (s *spy) Helper()               {}
func (s *spy) Name() string          { return "TestX" }
func (s *spy) Failed() bool          { return s.errors > 0 }
func (s *spy) Errorf(string, ...any) { s.errors++ }
func (s *spy) Cleanup(f func())      { s.ends = append(s.ends, f) }

func TestCompares(t *testing.T) {
	path := filepath.Join(t.TempDir(), "digests.txt")
	for _, c := range []struct {
		platform string
		digests  []uint64
		errors   int
	}{
		{Platform(), []uint64{1, 2}, 0},
		{Platform(), []uint64{2, 1}, 1},
		{Platform(), []uint64{1}, 1},
		{"go1.0 pdp11", []uint64{2, 1}, 0},
	} {
		var sum uint64
		for _, d := range []uint64{1, 2} {
			sum = (sum ^ d) * 1099511628211
		}
		f := Open(path)
		f.platform = c.platform
		f.want["TestX"] = fmt.Sprintf("%016x", sum)
		s := &spy{TB: t}
		for _, d := range c.digests {
			f.Add(s, d)
		}
		for _, end := range s.ends {
			end()
		}
		if s.errors != c.errors {
			t.Errorf("%v on %s: %d errors, want %d", c.digests, c.platform, s.errors, c.errors)
		}
	}
}

func TestWhatIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "digests.txt")
	if err := os.WriteFile(path, []byte("# "+Platform()+": comment\na 0000000000000007\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, s := Open(path), &spy{TB: t}
	if f.Check(s, "a", 7); s.errors != 0 {
		t.Error("a digest that is the same is reported")
	}
	if f.Check(s, "b", 7); s.errors != 1 {
		t.Error("a name that the file lacks is not reported")
	}
}
