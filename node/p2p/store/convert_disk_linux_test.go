package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"skep/grid"
	"skep/internal/format1"
)

// manyJobs returns jobs of the smallest records that there are, and such whose tasks have large ones.
func manyJobs() map[string][]format1.Job {
	all := map[string][]format1.Job{"many tasks": {legacyJob(2, 4000)}}
	for i := range 3000 {
		id := grid.JobID{Origin: legacyOwner, Nonce: [10]byte{byte(i >> 8), byte(i)}}
		spec := &grid.JobSpec{Engine: grid.EngineProcess, Command: []string{"x"}, Count: 1}
		all["small jobs"] = append(all["small jobs"], format1.Job{ID: id, Spec: spec, Cancelled: true})
	}
	large := legacyJob(2, 60)
	for i := range large.Tasks {
		if r := large.Tasks[i].Result; r != nil {
			for n := range 500 {
				r.Outputs = append(r.Outputs, grid.File{Path: fmt.Sprint("out/", n), Blob: grid.BlobID{byte(n)}, Size: 1})
			}
		}
	}
	all["large results"] = []format1.Job{large}
	return all
}

// Where the disk has less than a conversion takes, the start fails with what is missing, and nothing has changed; where
// it has as much, the conversion is made. The same holds where the disk fills up meanwhile.
func TestConvertDiskFull(t *testing.T) {
	t.Parallel()
	for name, jobs := range manyJobs() {
		whole := t.TempDir()
		writeFormat1(t, whole, jobs...)
		before := mustDump(t, filepath.Join(whole, File))
		raw, err := os.ReadFile(filepath.Join(whole, File))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		mount(t, dir, "size=256m")
		if err := os.WriteFile(filepath.Join(dir, File), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		unchanged := func() {
			t.Helper()
			if d := cmp.Diff(before, mustDump(t, filepath.Join(dir, File))); d != "" {
				t.Fatal(d)
			}
			if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 1 {
				t.Fatalf("%s: it leaves %v", name, names)
			}
		}
		resize := func(size int) {
			t.Helper()
			if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%d", size)); err != nil {
				t.Fatal(err)
			}
		}
		step, tight := max(len(raw)/16, 8192), 0
		var most int // at which it fails
		for size := len(raw); ; size += step {
			resize(size)
			s, err := Open(dir)
			if err == nil {
				s.Close()
				break
			}
			most = size
			tight++
			wantError(t, err, ErrFull, dir, "MiB, and nothing was changed: no space left on device: ")
			unchanged()
		}
		if tight < 5 {
			t.Errorf("%s: %d sizes were too small", name, tight)
		}

		// Without a look at the free space before.
		resize(256 << 20)
		if err := errors.Join(RemoveCopy(dir), os.WriteFile(filepath.Join(dir, File), raw, 0o600)); err != nil {
			t.Fatal(err)
		}
		failed, needed := 0, 0
		for size := len(raw); needed == 0; size += step {
			resize(size)
			s := &Store{dir: dir}
			if err := s.open(filepath.Join(dir, File)); err != nil {
				t.Fatal(err)
			}
			err := s.copyAndUpgrade()
			s.Close()
			if err == nil {
				needed = size
				break
			}
			failed++
			if size > most+step {
				t.Fatalf("%s: with %d bytes: %v", name, size, err)
			}
			unchanged()
		}
		t.Logf("%s: of %d bytes, filled up at %d sizes; it took less than %d bytes, and was refused up to %d",
			name, len(raw), failed, needed-len(raw), most-len(raw))
	}
}
