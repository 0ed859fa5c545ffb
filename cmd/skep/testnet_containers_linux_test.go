package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"skep/testnet"
)

// inContainers skips a test if there is no container engine, or no image can be built.
func inContainers(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("containers take their time")
	}
	if err := testnet.Engine(context.Background()); err != nil {
		t.Skip(err)
	}
	if err := testnet.Imageable(); err != nil {
		t.Skip(err)
	}
}

func TestTestnetOfContainers(t *testing.T) {
	t.Parallel()
	inContainers(t)
	home, bin := t.TempDir(), buildSkep(t)
	t.Cleanup(func() { removeTestnets(home) })
	run := func(args ...string) (string, error) {
		cmd := exec.Command(bin, append([]string{"testnet"}, args...)...)
		cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+home)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(want string, args ...string) string {
		t.Helper()
		out, err := run(args...)
		if err != nil || !strings.Contains(out, want) {
			t.Fatalf("skep testnet %s: %v, want %q in\n%s", strings.Join(args, " "), err, want, out)
		}
		return out
	}
	must("READY 3 nodes as containers", "up", "-n", "3")
	must("n3\n", "run", "--node", "n1", "--label", "hostname=n3", "--", "sh", "-c", "hostname")

	reach := []string{"run", "--node", "n2", "--label", "hostname=n2", "--", "sh", "-c",
		"nc -w 4 " + address(t, home, "n1") + " 7420 </dev/null && echo reached"}
	must("reached", reach...)
	must("cut: n1 | n2 n3", "cut", "n1")
	if out, err := run(reach...); err == nil || strings.Contains(out, "reached") {
		t.Errorf("n2 reaches n1 across the cut: %s", out)
	}
	must("healed", "heal")
	must("reached", reach...)

	must("n3 is killed", "kill", "n3")
	must("n2 is paused", "pause", "n2")
	out := must("paused", "status")
	if !strings.Contains(out, "stopped") {
		t.Errorf("a killed node is not shown as stopped:\n%s", out)
	}
	must("n2 goes on\n", "resume", "n2")
	must("n3 runs again", "restart", "n3")
	must("n3\n", "run", "--node", "n2", "--wait", "--label", "hostname=n3", "--", "hostname")
	must("is gone", "down")
	nothingLeft(t, home)
}

// address returns the listen address of a node.
func address(t *testing.T, home, name string) string {
	t.Helper()
	n, err := testnet.Open(home + "/skep-testnet/default")
	if err != nil {
		t.Fatal(err)
	}
	node, err := n.Node(name)
	if err != nil {
		t.Fatal(err)
	}
	return node.IP
}

// nothingLeft checks that no container and no network of a folder is left.
func nothingLeft(t *testing.T, home string) {
	t.Helper()
	left, err := testnet.Left(context.Background(), home+"/skep-testnet/default")
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := os.Stat(home + "/skep-testnet/default"); err == nil {
		t.Error("the folder is left")
	}
}

func TestInterruptedTestnetOfContainersCleansUp(t *testing.T) {
	t.Parallel()
	inContainers(t)
	home, bin := t.TempDir(), buildSkep(t)
	t.Cleanup(func() { removeTestnets(home) })
	for _, after := range []time.Duration{500 * time.Millisecond, 3 * time.Second} {
		up := exec.Command(bin, "testnet", "up", "-n", "3")
		up.Env = append(os.Environ(), "XDG_DATA_HOME="+home)
		if err := up.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after) // at any moment: nothing may be left
		_ = up.Process.Kill()
		_ = up.Wait()
		down := exec.Command(bin, "testnet", "down")
		down.Env = up.Env
		if out, err := down.CombinedOutput(); err != nil {
			t.Fatalf("down: %v\n%s", err, out)
		}
		nothingLeft(t, home)
	}
}
