//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// openStrict is open, and skips the test where boxes have no control groups.
func openStrict(t testing.TB, change func(*Options)) *Sandbox {
	t.Helper()
	s := open(t, change)
	if s.Level() < grid.IsolationStrict {
		t.Skip("not strict here: ", Explain(s.Findings()))
	}
	return s
}

// inPod begins a script in a box of a pod, as the user of the first if there was one.
func inPod(t testing.TB, s *Sandbox, p *Pod, script string, as *uint32) *shell {
	t.Helper()
	return begin(t, s, script, func(x *Spec) {
		x.Pod = p
		dir := filepath.Join(s.opts.Work, x.Folder)
		if *as == 0 {
			*as = x.Command.UID
		} else if x.Command.UID != 0 {
			x.Command.UID, x.Command.GID = *as, *as
			for _, d := range []string{"work", "tmp"} {
				if err := os.Chown(filepath.Join(dir, d), int(*as), int(*as)); err != nil {
					t.Fatal(err)
				}
			}
		}
		const names = "127.0.0.1 localhost\n127.0.0.7 rank7\n"
		hosts := filepath.Join(dir, "hosts")
		if err := errors.Join(os.WriteFile(hosts, []byte(names), 0o666), os.Chmod(hosts, 0o666)); err != nil {
			t.Fatal(err)
		}
		x.Hosts = "hosts"
	})
}

// Boxes of a pod share network, /dev/shm and System V objects, and neither processes nor folders; a box beside them
// shares nothing.
func TestPodShares(t *testing.T) {
	s := openStrict(t, nil)
	p, err := s.NewPod(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	const look = `echo $(readlink /proc/self/ns/net /proc/self/ns/ipc) $(ls /dev/shm) . $(ls /task/work) . ` +
		`$(ls /proc | grep -c '^[0-9]')`
	var as uint32
	a := inPod(t, s, p, `echo x >/dev/shm/both; echo x >/task/work/own; `+look+`; exec sleep 60`, &as)
	if a.group == nil {
		t.Error("a box of a pod has no control group")
	}
	first := strings.Fields(a.line())
	out, _ := inPod(t, s, p, look+`; cat /dev/shm/both`, &as).end()
	second := strings.Fields(out)
	if len(first) < 6 || len(second) < 6 || first[0] != second[0] || first[1] != second[1] || second[2] != "both" {
		t.Errorf("the boxes see %q and %q: want the same namespaces and /dev/shm", first, second)
	}
	if len(second) != 7 || second[3] != "." || second[4] != "." || second[6] != "x" {
		t.Errorf("the second box sees %q: want nothing in its work folder", second)
	}
	alone, _ := begin(t, s, look, func(x *Spec) { x.Network = grid.NetworkNone }).end()
	if f := strings.Fields(alone); len(f) < 3 || f[0] == first[0] || f[1] == first[1] || f[2] != "." {
		t.Errorf("a box of its own sees %q, one of the pod %q: want nothing in common", f, first)
	}
}

// The forker is in its own namespaces again when it has made a box of a pod.
func TestForkerLeavesThePod(t *testing.T) {
	s := openStrict(t, nil)
	p, err := s.NewPod(0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	const look = `readlink /proc/self/ns/net /proc/self/ns/ipc`
	host := func() string {
		out, _ := begin(t, s, `readlink /proc/self/ns/net`, func(x *Spec) { x.Network = grid.NetworkHost }).end()
		return out
	}
	var as uint32
	before := host()
	inPod(t, s, p, look, &as).end()
	if after := host(); before != after || before == "" {
		t.Errorf("a box with the machine's network is in %q, after one of a pod in %q", before, after)
	}
}

// A pod outlives the zygote's replacement, and ends with Close.
func TestPodHoldsItsZygote(t *testing.T) {
	s := openStrict(t, func(o *Options) { o.Landlock = -1 }) // which forbids to write there, too
	p, err := s.NewPod(0)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.forker.stuck.Store(true) // so that another takes its place
	s.mu.Unlock()
	if out, _ := begin(t, s, `echo alone`, nil).end(); out != "alone\n" {
		t.Fatalf("a box of the new zygote says %q", out)
	}
	var as uint32
	if out, end := inPod(t, s, p, `getent hosts rank7; cat /etc/hosts | wc -l; echo x 2>/dev/null >/etc/hosts || echo kept`,
		&as).end(); !strings.Contains(out, "127.0.0.7") || !strings.HasSuffix(out, "2\nkept\n") {
		t.Errorf("a box of the pod says %q, %+v", out, end)
	}
	p.Close()
	<-p.Done()
	r := &Spec{Folder: "a0", Pod: p, Command: Command{Path: "/bin/true", Argv: []string{"true"}}}
	if _, err := s.Start(r); err == nil {
		t.Error("a box is made in a pod that is closed")
	}
}

// A TUN device can be opened in the pod's network and set up from outside.
func TestPodOpensTUN(t *testing.T) {
	s := openStrict(t, nil)
	p, err := s.NewPod(0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	tun, route, err := p.OpenTUN()
	if err != nil {
		t.Skip("no TUN here: ", err)
	}
	tun.Close()
	route.Close()
}

// The calls by which boxes join a pod are the stubs' alone.
func TestTaskCannotJoin(t *testing.T) {
	s := open(t, nil)
	const call = `perl -e 'my $p = "/"; for (%d, %d, %d) {
		print syscall($_, -100, $p, 0, 0, 0, 0) < 0 && $!{EPERM} ? "not " : "made " }'`
	script := fmt.Sprintf(call, unix.SYS_SETNS, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT)
	if out, _ := begin(t, s, script, nil).end(); out != "not not not " {
		t.Errorf("%q", out)
	}
}

// A control group whose box has left memory in the pod is not used again: the next box would have less of its own. One
// whose box has left nothing is, unless the box was the first to read some file, which then is charged to its group:
// of a few boxes not each is the first.
func TestGroupOfAPodIsUsedOnce(t *testing.T) {
	s := openStrict(t, nil)
	p, err := s.NewPod(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var as uint32
	again := func(left int) bool {
		b := inPod(t, s, p, fmt.Sprintf(`head -c %d /dev/zero >/dev/shm/f`, left), &as)
		b.end()
		b.Close()
		for end := time.Now().Add(time.Minute); !b.group.empty() && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond) // a stub stays for a moment after it has told its end
		}
		var taken []*group
		for range len(s.groups.used) + 1 {
			x, err := s.groups.take(&Spec{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			taken = append(taken, x)
		}
		for _, x := range taken {
			x.release()
		}
		return slices.Contains(taken, b.group)
	}
	for try := 0; !again(0); try++ {
		if try == 10 {
			t.Fatal("no group is used again after a box that left nothing")
		}
	}
	if again(8 << 20) {
		t.Error("a group is used again whose box has left 8 MiB")
	}
}
