//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"skep/grid"
)

func TestRange(t *testing.T) {
	for text, want := range map[string]Range{"2000000000-2000065535": DefaultRange, "5-5": {5, 1}} {
		if r, err := ParseRange(text); err != nil || r != want || r.String() != text {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
	for _, bad := range []string{"", "5", "0-9", "9-5", "a-b", "5-4294967295", "1-2-3"} {
		if r, err := ParseRange(bad); err == nil {
			t.Errorf("%q was taken as %v", bad, r)
		}
	}
	if err := (Range{0xffff - 1, 2}).free(); err == nil { // nobody's is in the middle of it on every system
		t.Log("65534 is nobody's account here")
	}
	if err := DefaultRange.free(); err != nil {
		t.Error(err)
	}
}

// Each node of a machine has IDs of its own; one that is in use, or has left a file where tasks can leave some, is not
// given again.
func TestIDsAreGivenOnce(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	a, err := claim(Range{1_999_990_000, 2 * idBlock}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	b, err := claim(Range{1_999_990_000, 2 * idBlock}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	if a.first == b.first {
		t.Fatal("two nodes have the same IDs")
	}
	if _, err := claim(Range{1_999_990_000, 2 * idBlock}, t.TempDir()); err == nil {
		t.Error("a third node got a block of two")
	}
	place := t.TempDir()
	file := filepath.Join(place, "left")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left := a.first + 1
	os.Lchown(file, int(left), int(left))
	a.share([]string{place})
	seen := make(map[uint32]bool)
	for range idBlock - 1 {
		id, err := a.take()
		if err != nil || seen[id] || id == left {
			t.Fatalf("%d, twice %v, has left a file %v: %v", id, seen[id], id == left, err)
		}
		seen[id] = true
	}
	if id, err := a.take(); err == nil {
		t.Errorf("%d is used or has left something", id)
	}
	os.Remove(file)
	if id, err := a.take(); err != nil || id != left {
		t.Errorf("%d, %v: want the one whose file is gone", id, err)
	}
}

// An ID of which a process is left is not given again, though no task can leave files and the process hides whose it
// is.
func TestIDOfAHangingProcessIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	i, err := claim(Range{1_999_980_000, 2}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer i.close()
	hung, _ := i.take()
	free, _ := i.take()
	cmd := exec.Command("perl", "-e", "syscall(157, 4, 0); $| = 1; print 1; sleep 1000") // PR_SET_DUMPABLE
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: hung, Gid: hung}}
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	out.Read(make([]byte, 1))
	i.release(hung, true)
	if id, err := i.take(); err == nil {
		t.Errorf("%d is used, or a process has it", id)
	}
	i.release(free, false)
	if id, err := i.take(); err != nil || id != free {
		t.Errorf("%d, %v: want %d, of which nothing is left", id, err, free)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if id, err := i.take(); err != nil || id != hung {
		t.Errorf("%d, %v: want %d, whose process is gone", id, err, hung)
	}
}

// A place with more files than can be looked at keeps nobody from taking tasks: a further block is used, which no node
// has had.
func TestFullPlacesCostABlock(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	const first = 1_999_970_000
	for n := range uint32(3) { // of a former run of this test
		os.Remove(filepath.Join(locks, fmt.Sprint("ids-", first+n*idBlock)))
	}
	i, err := claim(Range{first, 2 * idBlock}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer i.close()
	defer func(n int) { idLooked = n }(idLooked)
	idLooked = 5
	place := t.TempDir()
	for n := range 10 {
		os.WriteFile(filepath.Join(place, fmt.Sprint(n)), nil, 0o600)
	}
	i.share([]string{place})
	warned := 0
	i.warn = func(string, error) { warned++ }
	for n := range idBlock {
		if id, err := i.take(); err != nil || id < first+idBlock {
			t.Fatalf("%d: %d, %v: want one of the second block", n, id, err)
		}
	}
	if id, err := i.take(); err == nil || warned != 1 {
		t.Errorf("%d, %v, %d warnings: want an error, and one when the block was taken", id, err, warned)
	}
	idLooked = 1000
	if id, err := i.take(); err != nil || id >= first+idBlock {
		t.Errorf("%d, %v: want one of the first, now that all can be looked at", id, err)
	}
}

// Where the node's user namespace does not have the default range, one that it has is taken; one that the operator set
// is not replaced.
func TestRangeThatIsMapped(t *testing.T) {
	all, rootless, alone := []Range{{0, math.MaxUint32}}, []Range{{0, 1}, {1, 65_536}}, []Range{{0, 1}}
	for _, c := range []struct {
		asked         Range
		users, groups []Range
		exact         bool
		count         uint32 // none: an error that says what to set
	}{
		{Range{}, all, all, true, DefaultRange.Count},
		{Range{5_000_000, 9}, all, all, true, 9},
		{Range{40_000, 1024}, rootless, rootless, true, 1024},
		{Range{}, rootless, all, false, 16 * 1024},
		{DefaultRange, []Range{{0, 1000}, {1000, 69_000}}, rootless, false, 16 * 1024},
		{Range{}, []Range{{0, 1}, {3000, 1024}}, rootless, false, 1024},
		{Range{}, alone, alone, false, 0},
		{Range{}, rootless, alone, false, 0},
		{Range{5_000_000, 9}, rootless, rootless, true, 0},
		{Range{65_000, 9000}, rootless, rootless, true, 0},
	} {
		got, err := usable(c.asked, c.users, c.groups)
		switch want := c.asked; {
		case c.count == 0:
			if err == nil || !strings.Contains(err.Error(), "task_uids") {
				t.Errorf("%+v: %v, %v", c, got, err)
			}
		case err != nil || got.Count != c.count || !got.within(c.users) || !got.within(c.groups) || got.free() != nil:
			t.Errorf("%+v: %v, %v", c, got, err)
		case c.exact && got != cmp.Or(want, DefaultRange):
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Root in a container that is made without root runs tasks, each as a user that the container has.
func TestTasksOfRootInAUserNamespace(t *testing.T) {
	own := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1},
		{ContainerID: 1, HostID: 1_999_800_000, Size: 65_536}}
	if !inChild(t, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: own,
		GidMappings:                own,
		GidMappingsEnableSetgroups: true}) {
		return
	}
	for _, level := range []grid.Isolation{grid.IsolationNone, grid.IsolationBasic} {
		s, err := Open(Options{Level: level, Work: filepath.Join(t.TempDir(), "work"),
			Dir: filepath.Join(t.TempDir(), "box")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if err := os.MkdirAll(s.opts.Work, 0o711); err != nil {
			t.Fatal(err)
		}
		out, _ := begin(t, s, "id -u", func(p *Spec) {
			if !s.Boxes() {
				p.Command.Dir = "/"
			}
		}).end()
		var id uint32
		if n, err := fmt.Sscan(out, &id); n != 1 || !s.ids.all.holds(uint64(id), 1) || id > 65_536 {
			t.Errorf("%v, level %v: user %q of %v, %v", level, s.Level(), out, s.ids.all, err)
		}
		t.Logf("%v: %v, %s", level, s.Level(), Explain(s.Findings()))
	}
}
