package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
	"skep/grid"
)

// A node whose user may have few processes runs a task that makes as many as it can, and needs threads itself.
func init() {
	roles["small node"] = func() {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			panic(err)
		}
		most := uint64(len(threads)) + 1500 // as others of this user may run too
		if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			panic(err)
		}
		data := os.Getenv("PROCESS_TEST_DIR")
		r, err := New(Options{Sandbox: sandbox.Options{Level: grid.IsolationBasic, Work: filepath.Join(data, "work"),
			Dir: filepath.Join(data, "box"), Slots: 1}})
		if err != nil {
			panic(err)
		}
		defer r.Close()
		var bombs []*Process
		for _, name := range []string{"one", "two", "three"} {
			dir := filepath.Join(r.work, name)
			if err := r.Prepare(dir, Account{}); err != nil {
				panic(err)
			}
			const bomb = `for (1..3000) { my $p = fork; if (!defined $p) { open(F, ">full"); close F; last } if (!$p) { sleep 60; exit } } sleep 60`
			p, err := r.Start(Spec{Argv: []string{"perl", "-e", bomb}, Dir: dir, MaxProcs: 4096, Grace: time.Millisecond})
			if err != nil {
				panic(err)
			}
			bombs = append(bombs, p)
			for _, err := os.Stat(filepath.Join(Work(dir), "full")); err != nil; _,
				err = os.Stat(filepath.Join(Work(dir), "full")) {
				time.Sleep(5 * time.Millisecond)
			}
		}
		made := make(chan bool)
		for range 200 {
			go func() {
				runtime.LockOSThread()
				made <- true
				select {}
			}()
		}
		for range 200 {
			<-made
		}
		for _, p := range bombs {
			p.Cancel()
			p.Wait()
		}
		os.Stdout.WriteString("it goes on\n")
		os.Exit(0)
	}
}

func TestTasksLeaveTheNodeItsThreads(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the kernel does not count root's processes")
	}
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("needs perl")
	}
	if r := newRunner(t); !r.sandbox.Boxes() {
		t.Skip("no boxes here")
	}
	node := exec.Command("/proc/self/exe")
	node.Env = append(os.Environ(), "PROCESS_TEST_ROLE=small node", "PROCESS_TEST_DIR="+t.TempDir())
	if out, err := node.CombinedOutput(); err != nil || string(out) != "it goes on\n" {
		t.Errorf("%v: %.400q", err, out)
	}
}
