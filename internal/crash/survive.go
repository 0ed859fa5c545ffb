package crash

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"
)

// Recorded is Record for a test, which is skipped where nothing can be recorded.
func Recorded(t *testing.T, script string) *Journal {
	t.Helper()
	j, err := Record(script, t.TempDir())
	if errors.Is(err, ErrCannot) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// Survives fails t, with the crash and the seed, if check returns an error for a folder that a crash could have
// left; see Each.
func (j *Journal) Survives(t *testing.T, stride int, check func(dir string, acked []string) error) {
	t.Helper()
	seed, crashes := rand.Uint64(), 0
	err := j.Each(scratch(t), rand.New(rand.NewPCG(seed, 1)), stride, func(dir string, acked []string) error {
		crashes++
		return check(dir, acked)
	})
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	t.Logf("%d calls to the system, %d crashes", j.Len(), crashes)
}

// memory is where Linux has a file system without a disk.
const memory = "/dev/shm"

// scratch returns a new folder, in memory if possible: what is lost in a crash is up to the Journal, and a sync of a
// disk takes longer than all else.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory, "skep-crash-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Stride is 1, or in a short run n: only every n-th call is looked at.
func Stride(n int) int {
	if testing.Short() {
		return n
	}
	return 1
}
