//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox/zygote"
	"skep/grid"
)

// ownMounts runs a test in a process with mounts of its own, shared as most machines have theirs; it reports whether
// this is that one.
func ownMounts(t *testing.T) bool {
	return inChild(t, &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS})
}

// inChild runs a test in a process that is made as attr says; it reports whether this is that one.
func inChild(t *testing.T, attr *syscall.SysProcAttr) bool {
	const mark = "SANDBOX_TEST_CHILD"
	if os.Getenv(mark) != "" {
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), mark+"=1")
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	if errors.Is(err, os.ErrPermission) {
		t.Skip("cannot have namespaces of its own: ", err)
	}
	if err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v:\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}

// A socket in what tasks see is out of reach though anybody may connect, and what the machine mounts there later does
// not come into boxes, where it would be writable and with working devices. The tree alone sees to it: there is no
// Landlock.
func TestSocketsAndLaterMounts(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	for _, flags := range []uintptr{unix.MS_REC | unix.MS_PRIVATE, unix.MS_REC | unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", flags, ""); err != nil {
			t.Skip("cannot change mounts: ", err)
		}
	}
	if err := unix.Mount("tmpfs", "/opt", "tmpfs", 0, "mode=0755"); err != nil {
		t.Skip("no /opt: ", err)
	}
	if err := os.MkdirAll("/opt/a/mount", 0o755); err != nil {
		t.Fatal(err)
	}
	const path = "/opt/a/daemon.sock"
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	s := open(t, func(o *Options) { o.Landlock = -1 })
	if s.Level() < grid.IsolationBasic {
		t.Error(Explain(s.Findings()))
	}
	if err := unix.Mount("tmpfs", "/opt/a/mount", "tmpfs", 0, "mode=1777"); err != nil {
		t.Fatal(err)
	}
	out, _ := begin(t, s, `echo x >/opt/a/mount/f && echo mount; perl -e 'use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0) or die;
		connect(S, sockaddr_un("`+path+`")) ? print "connected" : print "refused"'`, func(x *Spec) { x.Network = grid.NetworkNone }).end()
	if !strings.HasSuffix(out, "refused") || strings.Contains(out, "mount\n") {
		t.Errorf("%q", out)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal("the machine cannot reach it either: ", err)
	}
	c.Close()
}

// What tasks see is searched for sockets where links lead to it, and covered where tasks see it; a daemon may have
// named it either way.
func TestSocketsBehindLinks(t *testing.T) {
	dir, _ := shownFolder(t)
	link := dir + "-link"
	listen := func(path string) {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { l.Close() })
	}
	defer func(was []string) { unmanaged = was }(unmanaged)
	unmanaged = []string{link}
	listen(filepath.Join(dir, "one"))
	listen(filepath.Join(link, "deep", "two"))
	for name, c := range map[string]struct {
		tree   tree
		expose []Expose
		at     string
	}{
		"exposed by a link":    {expose: []Expose{{Path: link}}, at: link},
		"exposed":              {expose: []Expose{{Path: dir}}, at: dir},
		"a link that is shown": {tree: tree{mounts: []zygote.Mount{{Source: dir, Target: link}}}, at: link},
		"a link to what is":    {tree: tree{mounts: []zygote.Mount{{Source: dir, Target: dir}}}, at: dir},
	} {
		c.tree.findSockets(c.expose)
		if want := []string{filepath.Join(c.at, "deep", "two"), filepath.Join(c.at, "one")}; !slices.Equal(c.tree.sockets,
			want) {
			t.Errorf("%s: %q, want %q", name, c.tree.sockets, want)
		}
	}
	listening := realSockets(listeners("/proc/net/unix"))
	for _, want := range []string{filepath.Join(dir, "one"), filepath.Join(dir, "deep", "two")} {
		if !slices.Contains(listening, want) {
			t.Errorf("%s is not among %d listeners", want, len(listening))
		}
	}
}

// Nobody connects to a socket in a folder that is exposed by a link to it.
func TestSocketBehindALinkIsCovered(t *testing.T) {
	dir, _ := shownFolder(t)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	if err := os.Chmod(filepath.Join(dir, "s"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := open(t, func(o *Options) { o.Landlock, o.Expose = -1, []Expose{{Path: dir + "-link"}} })
	script := `cd "` + dir + `-link" && perl -e 'use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0) or die "none";
		connect(S, sockaddr_un("s")) ? print "connected" : print "refused"'`
	if out, _ := begin(t, s, script, func(x *Spec) { x.Network = grid.NetworkNone }).end(); out != "refused" {
		t.Errorf("%q", out)
	}
}

// The search for sockets says when it did not come to its end.
func TestSearchForSocketsIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint(i), "d"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", filepath.Join(dir, "5", "s"))
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	if found, all := socketsIn(dir, 1000); len(found) != 1 || !all {
		t.Errorf("%v, %v", found, all)
	}
	if _, all := socketsIn(dir, 10); all {
		t.Error("10 of 21 entries were said to be all")
	}
	listening := listeners("/proc/net/unix")
	if want := filepath.Join(dir, "5", "s"); !strings.Contains(strings.Join(listening, "\n")+"\n", want+"\n") {
		t.Errorf("%s is not among %d listeners", want, len(listening))
	}
}
