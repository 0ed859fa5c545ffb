//go:build amd64 || arm64

package process

import (
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	roles["unlinked"] = func() {
		f, err := os.Create("gone")
		if err != nil {
			panic(err)
		}
		os.Remove("gone")
		for range 8 {
			if _, err := f.Write(make([]byte, 1<<20)); err != nil {
				panic(err)
			}
		}
		f.Sync() // it has blocks only then
		time.Sleep(time.Minute)
		runtime.KeepAlive(f)
	}
}

// A file that a task has removed and keeps open is in no folder that could be measured.
func TestUnlinkedFilesAreCounted(t *testing.T) {
	for _, kind := range []string{"unlinked", leaderEnded} {
		t.Run(kind, func(t *testing.T) { testUnlinkedFilesAreCounted(t, kind) })
	}
}

func testUnlinkedFilesAreCounted(t *testing.T, kind string) {
	r := newRunner(t)
	if !r.sandbox.Boxes() {
		t.Skip("no boxes here: what a task has open is not known")
	}
	s := spec(t, r, `exec 3>memory-is-none; exec ./role`)
	role(t, r, &s, kind)
	s.Env = append(s.Env, "THEN=unlinked")
	p, err := r.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { p.Cancel(); p.Wait() }()
	var fs unix.Statfs_t
	unix.Statfs(s.Dir, &fs)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		open := r.Unlinked(p)
		written, ok := r.Written(p)
		counts := ok && fs.Type != unix.TMPFS_MAGIC
		if open >= 8<<20 && open < 9<<20 && (!counts || written >= 8<<20) {
			return
		} else if time.Now().After(end) {
			t.Fatalf("%d bytes are open, %d were written: want 8 MiB of each", open, written)
		}
	}
}
