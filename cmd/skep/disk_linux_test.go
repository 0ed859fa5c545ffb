package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A node with less free space than its reserve accepts no tasks and says why; jobs submitted to it run elsewhere.
func TestNodeWithFullDiskAcceptsNoTasks(t *testing.T) {
	t.Parallel()
	full := startMember(t, "skep", "", "--name", "full", "--disk-reserve", "1000000GiB")
	until(t, "the node says so", func() bool {
		return strings.Contains(full.run(t, "", "node", "list"), "self (its disk is nearly full)")
	})
	if d := full.run(t, "", "node", "describe", "self"); !strings.Contains(d, "its disk is nearly full") {
		t.Errorf("describe says\n%s", d)
	}
	id := strings.TrimSpace(full.run(t, "command: [hostname]\nwait: true\n", "job", "submit", "-"))
	until(t, "the job says why it waits", func() bool {
		return strings.Contains(full.run(t, "", "job", "explain", id), "its disk is nearly full")
	})
	startMember(t, "skep", full.join, "--name", "empty")
	began := time.Now()
	full.run(t, "", "job", "wait", id)
	if where := full.describe(t, id).Tasks[0].Name; where != "empty" {
		t.Errorf("it ran at %s after %v", where, time.Since(began))
	}
}

// smallDisk starts a node whose data folder is a file system of its own.
func smallDisk(t *testing.T, size, join string, args ...string) *member {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs to mount")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("cannot mount here: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	m := &member{skep: "skep", dir: dir + "/data", log: &spool{},
		args: append([]string{"--listen", "/ip4/127.0.0.1/tcp/0", "--no-mdns", "--join", join}, args...)}
	m.start(t)
	return m
}

// fill writes files of 1 MiB.
func fill(files int) string {
	return fmt.Sprintf("i=0; while [ $i -lt %d ]; do head -c 1048576 /dev/zero >f$i || exit 9; i=$((i+1)); done", files)
}

// Many small files fill a disk as well as a large one. The task that writes them is ended with that reason before the
// node has no space for its records; the node stays up, and so does another node on the same disk.
func TestTaskThatFillsTheDiskIsEnded(t *testing.T) {
	t.Parallel()
	origin := startMember(t, "skep", "")
	// The bound is larger than the disk, so that the task is not ended for its own bound.
	m := smallDisk(t, "1500m", origin.join, "--label", "disk=small", "--disk-reserve", "1GiB", "--task-disk", "10GiB")
	quiet := origin.begin(t, "run", "--label", "disk=small", "--cpu", "0.1", "--", "sh", "-c",
		fill(20)+"; sleep 8; ls | wc -l")
	c := origin.begin(t, "run", "--label", "disk=small", "--cpu", "0.1", "--", "sh", "-c", fill(100_000))
	if code := c.end(t); code != 153 || !strings.Contains(c.err.String(), "filled the disk") {
		t.Errorf("ended with %d, %q: want 153 and why", code, &c.err)
	}
	if code := quiet.end(t); code != 0 || c.out.String()+quiet.out.String() != "20\n" {
		t.Errorf("the small one beside it ended with %d, %q, %q", code, &quiet.out, &quiet.err)
	}
	until(t, "the room is there again", func() bool {
		return !strings.Contains(m.run(t, "", "node", "list"), "its disk is nearly full")
	})
	if out := origin.run(t, "", "run", "--label", "disk=small", "--", "echo", "goes on"); out != "goes on\n" {
		t.Errorf("afterwards it prints %q", out)
	}
}

// A task reaches its own bound before the node's reserve is used.
func TestTaskDiskBound(t *testing.T) {
	t.Parallel()
	origin := startMember(t, "skep", "")
	m := smallDisk(t, "400m", origin.join, "--label", "disk=small", "--disk-reserve", "100MiB")
	c := origin.begin(t, "run", "--label", "disk=small", "--cpu", "0.1", "--", "sh", "-c", fill(100_000))
	if code := c.end(t); code != 153 || !strings.Contains(c.err.String(), "more than its bound of") {
		t.Errorf("ended with %d, %q: want 153 and why", code, &c.err)
	}
	if out := m.run(t, "", "run", "--", "echo", "goes on"); out != "goes on\n" {
		t.Errorf("afterwards it prints %q", out)
	}
}

// Other nodes learn that a node's disk is nearly full and offer it nothing, and learn when there is space again.
func TestFullDiskIsAnnounced(t *testing.T) {
	t.Parallel()
	origin := startMember(t, "skep", "")
	dir, expose := sharedFolder(t)
	m := smallDisk(t, "600m", origin.join, append(expose, "--name", "small", "--label", "disk=small", "--task-disk",
		"1GiB")...)
	gate := dir + "/gate"
	c := origin.begin(t, "run", "--label", "disk=small", "--", "sh", "-c",
		fill(380)+"; while [ ! -e '"+gate+"' ]; do sleep 0.05; done")
	said := func() bool {
		return strings.Contains(origin.run(t, "", "node", "list"), "(its disk is nearly full)")
	}
	until(t, "the origin says so", said)
	before := m.metric(t, `skep_messages_sent_total{kind="refuse"}`)
	wait := origin.begin(t, "run", "--label", "disk=small", "--wait", "--", "echo", "now")
	until(t, "what needs that node says why it waits", func() bool {
		return strings.Contains(origin.run(t, "", "job", "explain", "last"), "its disk is nearly full")
	})
	if after := m.metric(t, `skep_messages_sent_total{kind="refuse"}`); after != before {
		t.Errorf("it was offered work and refused it: %s, then %s", before, after)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := c.end(t); code != 0 {
		t.Errorf("a task that left enough ended with %d, %q", code, &c.err)
	}
	until(t, "the origin says that there is room again", func() bool { return !said() })
	if code := wait.end(t); code != 0 || wait.out.String() != "now\n" {
		t.Errorf("what waited ended with %d, %q, %q", code, &wait.out, &wait.err)
	}
}
