//go:build amd64 || arm64

package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
	"skep/grid"
)

// Ranks on one machine have one user and one /dev/shm, in which files of mode 0600 are for all of them, and a task
// beside them has neither. Each has its own folder, output and exit code. The user can be given again once they are
// gone.
func TestRanksShareAPod(t *testing.T) {
	r := newRunner(t)
	if level, findings := r.Isolation(); level < grid.IsolationStrict {
		t.Skip("not strict here: ", sandbox.Explain(findings))
	}
	pod, as, giveBack, err := r.NewPod(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if (as.UID != 0) != (as.Name != "") {
		t.Errorf("account %+v: want a name, or each rank's folder gives the ID back", as)
	}
	defer unix.Umask(unix.Umask(0o077)) // the file with the names of ranks is readable all the same
	rank := func(name, script string) Spec {
		s := Spec{Argv: []string{"sh", "-c", script}, Dir: filepath.Join(r.work, name), Memory: 64 << 20,
			Reach: Reach{Pod: pod, Hosts: []byte("127.0.0.1 localhost rank9\n")}}
		if err := r.Prepare(s.Dir, as); err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := rank("rank0", `umask 077; echo shared >/dev/shm/f; echo own >own; ls; id -u; exit 3`)
	res, out := run(t, r, first)
	if res.Code() != 3 {
		t.Errorf("%+v, %s", res, output(t, first, Stderr))
	}
	second := rank("rank1", `cat /dev/shm/f; ls; id -u; getent hosts rank9 | cut -d' ' -f1
		dd if=/dev/zero of=/dev/shm/g bs=1M count=2 2>/dev/null || echo full`)
	res, out2 := run(t, r, second)
	id := strings.TrimPrefix(out, "own\n")
	if res.Code() != 0 || out2 != "shared\n"+id+"127.0.0.1\nfull\n" {
		t.Errorf("%+v: the first rank says %q, the second %q", res, out, out2)
	}
	for _, dir := range []string{first.Dir, second.Dir} { // the gang keeps its user all the same
		if err := r.Remove(dir); err != nil {
			t.Error(err)
		}
	}
	alone := spec(t, r, `ls /dev/shm; id -u`)
	if _, out := run(t, r, alone); out == id && os.Geteuid() == 0 || strings.Contains(out, "f\n") {
		t.Errorf("a task beside the gang says %q", out)
	}
	giveBack(false)
	if _, err := r.Start(rank("rank2", "true")); err == nil {
		t.Error("a rank starts in a pod that was given back")
	}
}

// What a rank has in the /dev/shm that it shares is neither on disk nor its own memory, and not that of nobody either.
func TestSharedMemoryOfAPodIsKnown(t *testing.T) {
	r := newRunner(t)
	if level, findings := r.Isolation(); level < grid.IsolationStrict {
		t.Skip("not strict here: ", sandbox.Explain(findings))
	}
	pod, as, giveBack, err := r.NewPod(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer giveBack(false)
	const size = 8 << 20
	s := Spec{Argv: []string{"sh", "-c", `exec 9>/dev/shm/f; rm /dev/shm/f; head -c 8388608 /dev/zero >&9; echo; sleep 60`},
		Dir: filepath.Join(r.work, "rank0"), Memory: 64 << 20, Reach: Reach{Pod: pod}}
	if err := r.Prepare(s.Dir, as); err != nil {
		t.Fatal(err)
	}
	p := start(t, r, s)
	defer p.Cancel()
	eventually(t, "it is written", func() bool { return output(t, s, Stdout) != "" })
	var task *watched
	eventually(t, "it is seen", func() bool {
		r.watch.mu.Lock()
		defer r.watch.mu.Unlock()
		task = r.watch.tasks[p]
		return task.pooled.Load() >= size
	})
	if n := task.objects.Load(); n != 0 {
		t.Errorf("%d bytes count as its own", n)
	}
	if n := r.Unlinked(p); n != 0 {
		t.Errorf("%d bytes count as disk", n)
	}
}

// Of what all files in memory have, what is in pods is taken off once for each pod.
func TestMemoryOfNobody(t *testing.T) {
	w := &watcher{least: 100, tasks: map[*Process]*watched{}}
	pod := &sandbox.Pod{}
	for i, have := range []struct {
		pod             *sandbox.Pod
		objects, pooled int64
	}{{nil, 7, 0}, {pod, 0, 40}, {pod, 0, 50}} {
		p := &Process{spec: Spec{Argv: []string{string(rune('a' + i))}, Reach: Reach{Pod: have.pod}}}
		task := &watched{Process: p}
		task.objects.Store(have.objects)
		task.pooled.Store(have.pooled)
		w.tasks[p] = task
	}
	if n := w.nobodys(1000); n != 1000-100-7-50 {
		t.Errorf("%d: want 843", n)
	}
}
