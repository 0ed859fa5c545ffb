//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// twoDevices makes device files that behave as /dev/zero. /tmp would not do: each box has its own.
func twoDevices(t *testing.T) (paths []string) {
	t.Helper()
	for i := range 2 {
		path := fmt.Sprintf("/dev/skep-test-%d-%d", os.Getpid(), i)
		if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))); err != nil {
			t.Skip("no device files can be made here: ", err)
		}
		t.Cleanup(func() { os.Remove(path) })
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// A box gets the devices that it is given, and can open no others, also where folders with devices are shown to all.
func TestABoxGetsItsDevices(t *testing.T) {
	devices := twoDevices(t)
	s := open(t, func(o *Options) { o.Devices = devices })
	script := fmt.Sprintf("for d in %s; do head -c 3 $d 2>/dev/null | wc -c; done", strings.Join(devices, " "))
	for _, c := range []struct {
		name string
		gets []string
		want string
	}{{"none", nil, "0\n0\n"}, {"the second", devices[1:], "0\n3\n"}, {"both", devices, "3\n3\n"}} {
		for _, strict := range []bool{false, true} {
			b := begin(t, s, script, func(spec *Spec) {
				spec.Devices, spec.Strict = c.gets, strict
				if strict {
					spec.Network = grid.NetworkNone
				}
			})
			if got, _ := b.end(); got != c.want {
				t.Errorf("%s, strict %v: reads %q of them, want %q", c.name, strict, got, c.want)
			}
		}
	}
}

// A command that is pinned runs on these processors, and what it starts.
func TestACommandIsPinned(t *testing.T) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	last := 0
	for i := range 1024 {
		if all.IsSet(i) {
			last = i
		}
	}
	for _, level := range []grid.Isolation{grid.IsolationBasic, grid.IsolationNone} {
		s := open(t, func(o *Options) {
			o.Level = level
			os.MkdirAll(o.Work, 0o700)
		})
		b := begin(t, s, "sh -c 'grep Cpus_allowed_list: /proc/self/status'", func(spec *Spec) {
			spec.Command.CPUs = []int{last}
			if level == grid.IsolationNone {
				spec.Command.Dir = "/"
			}
		})
		got, _ := b.end()
		if want := fmt.Sprintf("Cpus_allowed_list:\t%d\n", last); got != want {
			t.Errorf("isolation %v: %q, want %q", level, got, want)
		}
	}
}

func TestDevicesAreChecked(t *testing.T) {
	if _, err := Open(Options{Devices: []string{"/etc/passwd"}}); err == nil ||
		!strings.Contains(err.Error(), "no device file") {
		t.Errorf("a file as a device: %v", err)
	}
}
