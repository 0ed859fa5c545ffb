package slurm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"skep/exec/external"
	"skep/exec/process"
)

func TestParseCluster(t *testing.T) {
	const listing = "a1|16|64000|1-00:00:00|work*|idle\na2|16|64000|1-00:00:00|work*|mixed*\n" +
		"a3|16|64000|1-00:00:00|work*|down*\na3|16|64000|30:00|gpu|drained\ng1|64|1000|30:00|gpu|allocated\n\nnonsense\n"
	for _, c := range []struct {
		partition string
		hosts     string
		away      int
		limit     time.Duration
	}{{"", "a1 a2", 1, 24 * time.Hour}, {"work", "a1 a2", 1, 24 * time.Hour}, {"gpu", "g1", 1, 30 * time.Minute}} {
		got, err := parseCluster(listing, c.partition)
		if err != nil {
			t.Fatal(err)
		}
		var hosts []string
		for _, h := range got.Hosts {
			hosts = append(hosts, h.Name)
		}
		if strings.Join(hosts, " ") != c.hosts || got.Away != c.away || got.MaxTime != c.limit {
			t.Errorf("%q: %v, %d away, %v: want %v", c.partition, hosts, got.Away, got.MaxTime, c)
		}
	}
	c, _ := parseCluster(listing, "")
	if c.Partition != "work" || c.CPUs() != 32 || c.Memory() != 2*64000<<20 || !c.fits(16, 64000<<20) || c.fits(17, 0) {
		t.Errorf("%+v", c)
	}
	for _, c := range [...]struct{ text, partition, want string }{
		{listing, "none", "no partition"}, {"a|1|1|infinite|x|idle\n", "", "no default partition"},
		{"a|1|1|infinite|x*|down\n", "", "no host that takes jobs"}, {"a|x|1|infinite|x*|idle\n", "", "want two numbers"},
		{"a|1|1|soon|x*|idle\n", "", "time limit"}, {"", "", "no default partition"},
	} {
		if _, err := parseCluster(c.text, c.partition); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v: want %q", c.text, err, c.want)
		}
	}
}

// sbatch(1): acceptable formats are minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes and
// days-hours:minutes:seconds.
func TestParseLimit(t *testing.T) {
	for text, want := range map[string]time.Duration{"infinite": 0, "n/a": 0, "5:30": 330 * time.Second,
		"2:00:00": 2 * time.Hour, "1-2": 26 * time.Hour, "1-2:30": 26*time.Hour + 30*time.Minute,
		"7-00:00:01": 168*time.Hour + time.Second, "365-00:00:00": 8760 * time.Hour} {
		if got, err := parseLimit(text); got != want || err != nil {
			t.Errorf("%s: %v, %v: want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "1:2:3:4", "-1", "1-", "1-1:1:1:1", "99999999-0"} {
		if got, err := parseLimit(text); err == nil {
			t.Errorf("%s: %v: want an error", text, got)
		}
	}
}

func TestParseListing(t *testing.T) {
	l := parseListing("12|RUNNING|skep-n-a~1|None\n13|PENDING|skep-n-b~1|(a|b)\n14|PENDING|other|None\n"+
		"x|PENDING|skep-n-c~1|None\n15_3|PENDING|skep-n-d~1|None\n16|COMPLETED|skep-n-a~1\n\n", "skep-n-")
	if len(l) != 2 || len(l["skep-n-a~1"]) != 1 || l["skep-n-b~1"][0] != (job{"13", "PENDING", "(a|b)"}) {
		t.Errorf("%+v", l)
	}
	for state, over := range map[string]bool{"RUNNING": false, "PENDING": false, "COMPLETING": false, "CANCELLED": true,
		"TIMEOUT": true, "SUSPENDED": false, "REQUEUED": false, "of a later version": false} {
		if got := (&job{state: state}).over(); got != over {
			t.Errorf("%s: over %v: want %v", state, got, over)
		}
	}
}

// Nothing of what a task asks for becomes an option of sbatch, or part of a shell's line.
func TestArguments(t *testing.T) {
	e := &Engine{o: Options{Account: "a", Extra: []string{"qos=low"}, Step: []string{"/x/skep", StepCommand}},
		cluster: &Cluster{Partition: "work", MaxTime: 3 * time.Minute}, script: "/x/batch.sh"}
	o := &Order{Dir: "/x/a", Argv: []string{"--wrap=reboot", "; reboot"}, Env: []string{"A=$(reboot)"}, CPUs: 3,
		Memory: 1<<20 + 1, Timeout: time.Minute, Grace: 5 * time.Second, Submission: 2}
	args := e.arguments(o, "name")
	want := []string{"--parsable", "--job-name=name", "--partition=work", "--account=a", "--qos=low", "--nodes=1",
		"--ntasks=1", "--cpus-per-task=3", "--mem=2M", "--time=2", "--no-requeue", "--export=ALL", "--input=/dev/null",
		"--chdir=/x/a", "--output=/x/a/slurm.log", "--error=/x/a/slurm.log", "--open-mode=append", "/x/batch.sh", "/x/skep",
		StepCommand, "/x/a", "2"}
	if !slices.Equal(args, want) {
		t.Errorf("%q:\nwant %q", args, want)
	}
	o.Timeout = 3 * time.Minute // Slurm's own limit cannot be longer than the partition's
	if args := e.arguments(o, "name"); !slices.Contains(args, "--time=3") {
		t.Errorf("%q: want --time=3", args)
	}
}

func TestCheckOptions(t *testing.T) {
	for _, x := range []string{"wrap=x", "array=1-9", "arra=1-9", "job-name=x", "output=/x", "requeue", "qos\n", ""} {
		if err := (&Options{Extra: []string{x}}).Check(); err == nil {
			t.Errorf("option %q is taken", x)
		}
	}
	for _, x := range []string{"a b", "a,b", "a|b", "a\n", strings.Repeat("a", 201)} {
		if err := (&Options{Partition: x}).Check(); err == nil {
			t.Errorf("partition %q is taken", x)
		}
	}
	o := &Options{Partition: "work", Account: "x", Extra: []string{"exclusive", "nice=5", "gres=gpu:1"}}
	if err := o.Check(); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{"", "relative", "/with%percent", `/with\backslash`} {
		if err := (&Options{Dir: dir, Data: "/", Node: "a"}).defaults(); err == nil {
			t.Errorf("folder %q is taken", dir)
		}
	}
}

// Of all that claim an order one has it, and the others learn who.
func TestOneClaims(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	own, by := 0, map[string]int{}
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			c := claim{By: []string{byStep, byNode}[i%2]}
			has, won, err := c.take(dir, 1)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if won {
				own++
			}
			by[has.By]++
		})
	}
	all.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, ".claim-*")); own != 1 || len(by) != 1 || len(left) > 0 {
		t.Errorf("%d have it, %v, left are %v: want one", own, by, left)
	}
	if never, err := fence(dir, "x", 2); !never || err != nil {
		t.Errorf("another submission: %v, %v", never, err)
	}
	if _, err := fence(filepath.Join(dir, "gone"), "x", 1); err == nil {
		t.Error("a claim in a folder that is not there")
	}
}

// A task without a box may write what it likes where the node reads: nothing of that blocks the node, or is taken for
// more than it can be.
func TestForgedEnd(t *testing.T) {
	x := end{Cause: 200, Exit: -1, Signal: math.MaxInt, Wall: -1, CPU: -1, MaxRSS: -1, Kept: [2]int64{-1, math.MaxInt64},
		Dropped: [2]int64{-1, -1}}
	r := x.result(100)
	if r.Exit != 255 || r.Signal != 127 || r.Wall != 0 || r.CPU != 0 || r.MaxRSS != 0 || r.Kept != [2]int64{0, 100} ||
		r.StdoutDropped != 0 || r.StderrDropped != 0 || r.Code() > 255 {
		t.Errorf("%+v", r)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, endFile)
	for what, forge := range map[string]func() error{
		"a pipe":   func() error { return syscall.Mkfifo(path, 0o600) },
		"a link":   func() error { return os.Symlink("/dev/zero", path) },
		"a folder": func() error { return os.Mkdir(path, 0o700) },
		"a large file": func() error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, external.MaxRecord+1))
		},
		"nonsense": func() error { return os.WriteFile(path, []byte("{"), 0o600) },
	} {
		os.RemoveAll(path)
		if err := forge(); err != nil {
			t.Fatal(err)
		}
		if err := external.ReadRecord(path, &x); err == nil {
			t.Errorf("%s is read", what)
		}
	}
}

// script puts a script in the place of a command.
func script(t *testing.T, name, text string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// What a command prints is bounded, and which of its failures another try may not have is told by its message.
func TestCommands(t *testing.T) {
	script(t, "squeue", "yes '1|RUNNING|skep-n-a~1|None' | head -c 70000000")
	if _, err := list(context.Background(), "skep-n-"); err == nil {
		t.Error("a listing of 70 MB is taken")
	}
	t.Setenv("SQUEUE_STATES", "x")
	script(t, "squeue", `test -z "$SQUEUE_STATES" || exit 1; echo "$@" >&2; exit 1`)
	_, err := list(context.Background(), "skep-n-")
	if err == nil || !strings.Contains(err.Error(), "--states=all") {
		t.Errorf("%v: want that it sees none of the node's variables, and the message of the command", err)
	}
	for said, want := range map[string]bool{
		"slurm_load_jobs error: Unable to contact slurm controller (connect failure)":                            true,
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation":                    true,
		"sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying":                           true,
		"sbatch: error: Batch job submission failed: Requested node configuration is not available":              false,
		"sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified": false,
		"": true,
	} {
		script(t, "scancel", fmt.Sprintf("echo %q >&2; exit 1", said))
		if err := cancelJobs(context.Background(), []string{"1"}); isTransient(err) != want {
			t.Errorf("%q: transient %v: want %v", said, !want, want)
		}
	}
	if !isTransient(cancelJobs(canceled(), []string{"1"})) {
		t.Error("a command that was broken off counts as refused")
	}
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// How a task ended whose step was stopped, or said nothing, Slurm knows; what ended by itself is taken at its word.
func TestJudge(t *testing.T) {
	task := &Task{order: Order{Dir: t.TempDir(), MaxOutput: 1}}
	well, failed, stopped, killed := end{}, end{Exit: 3}, end{Cause: process.Cancelled, Stopped: true},
		end{Cause: process.Signaled, Signal: 9}
	for _, c := range []struct {
		x     *end
		state string
		want  process.Cause
	}{
		{&well, "COMPLETED", process.Exited}, {&well, "CANCELLED", process.Exited}, {&well, "", process.Exited},
		{&failed, "FAILED", process.Exited}, {&failed, "", process.Exited}, {&failed, "CANCELLED", process.Broken},
		{&stopped, "CANCELLED", process.Broken}, {&stopped, "PREEMPTED", process.Broken}, {&stopped, "", process.Broken},
		{&stopped, "TIMEOUT", process.TimedOut}, {&killed, "FAILED", process.Signaled},
		{&killed, "OUT_OF_MEMORY", process.MemoryExceeded}, {nil, "OUT_OF_MEMORY", process.MemoryExceeded},
		{nil, "TIMEOUT", process.TimedOut}, {nil, "NODE_FAIL", process.Broken}, {nil, "COMPLETED", process.Broken},
		{nil, "", process.Broken},
	} {
		var j *job
		if c.state != "" {
			j = &job{state: c.state}
		}
		if r := task.judge(c.x, j); r.Cause != c.want {
			t.Errorf("%+v, %q: %v: want %v", c.x, c.state, r.Cause, c.want)
		}
	}
}
