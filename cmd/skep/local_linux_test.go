package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The program is on the worker already for a second task.
func TestProgramIsFetchedOnce(t *testing.T) {
	t.Parallel()
	origin := startMember(t, "skep", "")
	worker := startMember(t, "skep", origin.join, "--label", "side=b")
	prog := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\necho $1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"1", "1"} {
		if got := origin.run(t, "", "run", "--label", "side=b", "--", prog, fmt.Sprint(i)); got != fmt.Sprintln(i) {
			t.Errorf("run %d printed %q", i, got)
		}
		if got := worker.metric(t, "skep_blob_fetches_total"); got != want {
			t.Errorf("after run %d the worker has fetched %s blobs: want %s", i, got, want)
		}
	}
}

// Nodes with the same secret and no addresses of each other find each other on the local network.
func TestDiscoveryByMulticast(t *testing.T) {
	if testing.Short() {
		t.Skip("needs multicast")
	}
	t.Parallel()
	a := startMember(t, "skep", "", "--name", "a", "--listen", "/ip4/0.0.0.0/tcp/0", "--no-mdns=false")
	b := &member{skep: "skep", dir: t.TempDir(), log: &spool{}, args: []string{"--listen", "/ip4/0.0.0.0/tcp/0", "--name",
		"b"}}
	secret, err := os.ReadFile(filepath.Join(a.dir, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "secret"), secret, 0o600); err != nil {
		t.Fatal(err)
	}
	b.start(t)
	for end := time.Now().Add(time.Minute); !strings.Contains(b.run(t, "", "node", "list"),
		"connected"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			if out, _ := exec.Command("ip", "-br", "link", "show", "up").Output(); strings.Count(string(out), "MULTICAST") == 0 {
				t.Skip("this machine has no network interface with multicast")
			}
			t.Fatalf("a and b did not find each other:\n%s", b.log)
		}
	}
}

// A folder that cannot be written, and one on a full disk, each give one line of error.
func TestFolderTrouble(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs to mount")
	}
	for name, tc := range map[string]struct {
		options string
		flags   uintptr
		want    string
	}{
		"full":         {"size=8k", 0, "the disk is full"},
		"not writable": {"size=4m", syscall.MS_RDONLY, "read-only file system"},
	} {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", tc.flags, tc.options); err != nil {
			t.Skip("cannot mount here: ", err)
		}
		var errs bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, "skep", "--data-dir", filepath.Join(dir, "d"), "up", "--no-mdns", "--listen",
			"/ip4/127.0.0.1/tcp/0")
		cmd.Stderr = &errs
		err := cmd.Run()
		left, _ := os.ReadDir(dir)
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Fatal(err)
		}
		if err == nil || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), tc.want) {
			t.Errorf("%s: %v, %q: want one line with %q", name, err, &errs, tc.want)
		}
		if len(left) > 0 {
			t.Errorf("%s: left %v behind", name, left)
		}
	}
}
