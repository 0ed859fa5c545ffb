package digests

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Variable is that of the environment that asks for the file to be written.
const Variable = "SKEP_DIGESTS"

// File is a file of digests, each by a name without spaces. Its methods may be called by tests that run in parallel.
type File struct {
	path     string
	writes   bool
	platform string // of which the file is

	mu       sync.Mutex
	want     map[string]string
	got      map[string]string
	sequence map[string]uint64 // of a test that has not ended: its digests so far
}

// Open reads a file; one that is not there is empty.
func Open(path string) *File {
	f := &File{path: path, writes: os.Getenv(Variable) == "write", want: map[string]string{}, got: map[string]string{},
		sequence: map[string]uint64{}}
	r, err := os.Open(path)
	if err != nil {
		return f
	}
	defer r.Close()
	for s := bufio.NewScanner(r); s.Scan(); {
		if rest, found := strings.CutPrefix(s.Text(), "# "); found {
			f.platform, _, _ = strings.Cut(rest, ":")
		} else if name, digest, found := strings.Cut(s.Text(), " "); found {
			f.want[name] = digest
		}
	}
	return f
}

// Check compares a digest with that of the same name.
func (f *File) Check(t testing.TB, name string, digest uint64) {
	t.Helper()
	is := fmt.Sprintf("%016x", digest)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got[name] = is
	if f.writes || f.platform != Platform() {
		return
	}
	if want, found := f.want[name]; !found {
		t.Errorf("%s has no digest in %s: if it is new, `make digests`", name, f.path)
	} else if is != want {
		t.Errorf("%s has the digest %s, and had %s: if that was meant, `make digests`", name, is, want)
	}
}

// Add takes one more digest of a test. When the test ends all of them are compared, in their order, as one.
func (f *File) Add(t testing.TB, digest uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum, found := f.sequence[t.Name()]
	if !found {
		t.Cleanup(func() {
			f.mu.Lock()
			sum := f.sequence[t.Name()]
			delete(f.sequence, t.Name())
			f.mu.Unlock()
			if !t.Failed() {
				f.Check(t, t.Name(), sum)
			}
		})
	}
	f.sequence[t.Name()] = (sum ^ digest) * 1099511628211
}

// Main runs the tests, and writes the file if that is asked for and they passed.
func (f *File) Main(m *testing.M) (code int) {
	if code = m.Run(); code != 0 || !f.writes {
		return code
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: what each world did; `make digests` makes this anew\n", Platform())
	for _, name := range slices.Sorted(maps.Keys(f.got)) {
		fmt.Fprintln(&b, name, f.got[name])
	}
	if err := os.WriteFile(f.path, []byte(b.String()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Platform is the Go version and the level of the architecture of this binary.
func Platform() string {
	level := ""
	if info, found := debug.ReadBuildInfo(); found {
		for _, s := range info.Settings {
			if s.Key == "GO"+strings.ToUpper(runtime.GOARCH) {
				level = "/" + s.Value
			}
		}
	}
	return runtime.Version() + " " + runtime.GOARCH + level
}
