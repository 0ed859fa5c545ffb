package process

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"skep/grid"
)

// What tasks use is counted while they run and after they have ended, their children with them.
func TestProcessorTimeOfTasks(t *testing.T) {
	r := newRunner(t)
	p, err := r.Start(spec(t, r, "(while :; do :; done) & wait"))
	if err != nil {
		t.Fatal(err)
	}
	const some = 100 * time.Millisecond
	for used := time.Duration(0); used < some; used, _ = r.CPU() {
		time.Sleep(10 * time.Millisecond)
	}
	c, ok := ReadCores()
	if !ok || c.Count < 1 || c.Busy < some {
		t.Errorf("of the machine's cores this is known: %+v, %v", c, ok)
	}
	p.Cancel()
	p.Wait()
}

func TestQuota(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	unified := write("self", "0::/a/b\n")
	if q := quota(unified, root); q != 0 {
		t.Errorf("no bound is written down, and %g cores are found", q)
	}
	write("a/b/cpu.max", "max 100000\n")
	write("a/cpu.max", "250000 100000\n")
	if q := quota(unified, root); q != 2.5 {
		t.Errorf("quota %g, want 2.5: that of the group above", q)
	}
	write("cpu/c/cpu.cfs_quota_us", "150000\n")
	write("cpu/c/cpu.cfs_period_us", "100000\n")
	if q := quota(write("old", "2:cpu,cpuacct:/c\n"), root); q != 1.5 {
		t.Errorf("quota %g, want 1.5", q)
	}
	write("cpu/c/cpu.cfs_quota_us", "-1\n")
	if q := quota(write("old", "2:cpu,cpuacct:/c\n"), root); q != 0 {
		t.Errorf("quota %g where there is none", q)
	}
}

func TestMemoryBound(t *testing.T) {
	root := t.TempDir()
	for _, c := range []struct {
		self, file, text string
		want             grid.Bytes
	}{
		{"0::/a/b\n", "none", "", 0},
		{"0::/a/b\n", "a/b/memory.max", "max\n", 0},
		{"0::/a/b\n", "a/memory.max", "2147483648\n", 2 * grid.GiB},
		{"0::/a/b\n", "memory.max", "1073741824\n", grid.GiB},
		{"4:memory:/c\n", "memory/memory.limit_in_bytes", "9223372036854771712\n", 0},
		{"4:memory:/c\n", "memory/c/memory.limit_in_bytes", "536870912\n", 512 * grid.MiB},
		{"4:cpuset:/c\n", "none", "", 0},
	} {
		for name, text := range map[string]string{"self": c.self, c.file: c.text} {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := memoryBound(filepath.Join(root, "self"), root); got != c.want {
			t.Errorf("%q with %s of %q: %d, want %d", c.self, c.file, c.text, got, c.want)
		}
	}
}
