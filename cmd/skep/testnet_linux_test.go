package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"skep/testnet"
)

// theSkep returns a command that runs skep: the test's own binary under the name by which it is skep.
func theSkep(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	passable(t, home)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "skep"
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// belong returns the processes whose command line names a folder.
func belong(folder string) string {
	out, _ := exec.Command("ps", "-eo", "pid,stat,args").Output()
	var found []string
	for l := range strings.Lines(string(out)) {
		if strings.Contains(l, folder) {
			found = append(found, strings.TrimSpace(l))
		}
	}
	return strings.Join(found, "\n")
}

func TestInterruptedTestnetCleansUp(t *testing.T) {
	t.Parallel()
	moments := map[string]string{ // the file at whose appearance it is killed
		"before anything runs":     "testnet.json",
		"while the level is asked": "skep",
		"while nodes start":        "nodes/n2/log",
		"when the last is there":   "nodes/n4/data/api.sock",
	}
	for name, file := range moments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			t.Cleanup(func() { removeTestnets(home) })
			dir := filepath.Join(home, "skep-testnet", "default")
			up := theSkep(t, home, "testnet", "up", "-n", "4", "--processes")
			if err := up.Start(); err != nil {
				t.Fatal(err)
			}
			until(t, file, func() bool { _, err := os.Stat(filepath.Join(dir, file)); return err == nil })
			_ = up.Process.Kill()
			_ = up.Wait()
			if out, err := theSkep(t, home, "testnet", "down").CombinedOutput(); err != nil {
				t.Fatalf("down: %v\n%s", err, out)
			}
			if left := belong(dir); left != "" {
				t.Errorf("processes are left:\n%s", left)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("the folder is left")
			}
		})
	}
}

func TestFailedTestnetStartCleansUp(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "net")
	_, err := testnet.Up(context.Background(), dir, testnet.Options{Name: "net", Kind: testnet.Processes,
		Spec: testnet.Plain(2), Binary: "/bin/false"})
	if err == nil || !strings.Contains(err.Error(), "ended before it was ready") {
		t.Errorf("it says %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("the folder is left")
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Nanosecond)
	defer stop()
	if _, err := testnet.Up(ctx, dir, testnet.Options{Name: "net", Kind: testnet.Processes, Spec: testnet.Plain(1),
		Binary: "/bin/false"}); err == nil {
		t.Errorf("a testnet whose time is over came up")
	}
}
