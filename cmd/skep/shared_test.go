package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"skep/exec/sandbox"
	"skep/grid"
)

// isolation is the isolation level available to these tests.
var isolation = sync.OnceValue(func() grid.Isolation {
	level, findings, err := sandbox.Try("")
	fmt.Fprintf(os.Stderr, "isolation of tasks in these tests: %v. %s\n", level, sandbox.Explain(findings))
	if err != nil {
		fmt.Fprintf(os.Stderr, "no probe: %v\n", err)
	}
	return level
})

// levelled runs all tests and prints the level. Without boxes the tests' nodes are told to accept each other's tasks
// all the same. Tests wait for their nodes most of the time: more of them run at once than there are cores, unless
// -parallel says how many.
type levelled struct{ *testing.M }

func (m levelled) Run() int {
	if isolation() == grid.IsolationNone {
		os.Setenv("SKEP_ISOLATION", grid.IsolationNone.String())
	}
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	// What these tests are started to ignore, as in the background of a script, those whom they start would ignore too.
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	defer func() { _ = os.RemoveAll(builtIn) }()
	return m.M.Run()
}

// builtIn is the folder of the program that buildSkep has built; empty if it has built none.
var builtIn string

// built builds the program as it is released, once for all tests.
var built = sync.OnceValues(func() (bin string, err error) {
	if builtIn, err = os.MkdirTemp("", "skep-test-"); err != nil {
		return "", err
	}
	if err = os.Chmod(builtIn, 0o755); err != nil { // tasks may run it
		return "", err
	}
	bin = filepath.Join(builtIn, "skep")
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

// buildSkep returns the program as it is released, for what the test's own binary cannot do. The race detector is not
// in it.
func buildSkep(tb testing.TB) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("builds the program")
	}
	bin, err := built()
	if err != nil {
		tb.Fatal(err)
	}
	return bin
}

// passable makes a temporary folder of a test accessible to the users of tasks, where root's tasks have no boxes.
func passable(tb testing.TB, dir string) {
	tb.Helper()
	if isolation() > grid.IsolationNone || os.Geteuid() != 0 {
		return
	}
	for at := dir; strings.HasPrefix(at, os.TempDir()+"/"); at = filepath.Dir(at) {
		if info, err := os.Stat(at); err != nil {
			tb.Fatal(err)
		} else if err := os.Chmod(at, info.Mode().Perm()|0o011); err != nil {
			tb.Fatal(err)
		}
	}
}

// sharedFolder makes a folder in which all tasks may create files, and empty files in it that they may write to. The
// flags in expose show it to the boxes of tasks. It is not in the temporary folder, as a task has a /tmp of its own.
func sharedFolder(tb testing.TB, files ...string) (dir string, expose []string) {
	tb.Helper()
	if isolation() == grid.IsolationNone {
		dir = tb.TempDir() // not in a home, which other users cannot enter
		passable(tb, dir)
	} else {
		cache, err := os.UserCacheDir()
		if err == nil {
			err = os.MkdirAll(cache, 0o700)
		}
		if err == nil {
			dir, err = os.MkdirTemp(cache, "skep-test-")
		}
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = os.RemoveAll(dir) })
		expose = []string{"--expose", dir + ":rw"}
	}
	if err := os.Chmod(dir, os.ModeSticky|0o777); err != nil {
		tb.Fatal(err)
	}
	for _, name := range files {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			tb.Fatal(err)
		}
		if err := os.Chmod(name, 0o666); err != nil { // whatever the umask
			tb.Fatal(err)
		}
	}
	return dir, expose
}
