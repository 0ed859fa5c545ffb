package slurm

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/exec/external"
	"skep/exec/process"
)

// A task in Slurm ends as a process does: output, exit code, signal, time limit, and what cannot be executed.
func TestHowTasksEnd(t *testing.T) {
	r := newRig(t, 4)
	cases := []struct {
		name, script string
		change       func(*Order)
		code         int
		cause        process.Cause
		stdout       string
	}{
		{"well", "echo out; echo err >&2", nil, 0, process.Exited, "out\n"},
		{"code", "exit 3", nil, 3, process.Exited, ""},
		{"signal", "kill -9 $$", nil, 137, process.Signaled, ""},
		{"limit", "echo begun; sleep 100", func(o *Order) { o.Timeout = 300 * time.Millisecond }, 124, process.TimedOut,
			"begun\n"},
		{"leftover", "sleep 100 & echo $!", nil, 0, process.Exited, "*"},
		{"bound", "printf 123456789", func(o *Order) { o.MaxOutput = 4 }, 0, process.Exited, "1234"},
		{"none", "", func(o *Order) { o.Argv = []string{"no-such-program"} }, 127, process.NotFound, ""},
		{"denied", "", func(o *Order) { o.Argv = []string{"/etc/passwd"} }, 126, process.CannotExecute, ""},
		{"words", "", func(o *Order) { o.Argv = []string{"printf", "%s|", "a b", `"$HOME"`, ";", "--wrap=x"} }, 0,
			process.Exited, `a b|"$HOME"|;|--wrap=x|`},
		{"folder", "pwd; test $SLURM_CPUS_PER_TASK = 2", func(o *Order) { o.CPUs, o.Memory = 2, 200<<20 }, 0, process.Exited,
			filepath.Join(r.Folder(), "folder", "work") + "\n"},
		{"input", "cat", func(o *Order) {
			o.Stdin = true
			if err := os.WriteFile(r.Stdin(o.Dir), []byte("read\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, 0, process.Exited, "read\n"},
	}
	var tasks []*Task
	for _, c := range cases {
		o := r.order(c.name, c.script)
		if c.change != nil {
			c.change(&o)
		}
		tasks = append(tasks, r.start(o))
	}
	for i, c := range cases {
		task := tasks[i]
		res := r.wait(task)
		out := output(task)
		if res.Code() != c.code || res.Cause != c.cause || c.stdout != "*" && out != c.stdout {
			t.Errorf("%s: code %d, cause %v, %q, %q: want %d, %v, %q", c.name, res.Code(), res.Cause, res.Error, out, c.code,
				c.cause, c.stdout)
		}
		if res.Kept[process.Stdout] != int64(len(out)) {
			t.Errorf("%s: %d bytes are kept where %d are there", c.name, res.Kept[process.Stdout], len(out))
		}
	}
	if n := len(r.Tasks()); n > 0 {
		t.Errorf("%d tasks are left", n)
	}
}

// What a task prints can be read while it runs.
func TestOutputIsFollowed(t *testing.T) {
	r := newRig(t, 1)
	o := r.order("follow", "echo one; while ! test -e go; do sleep 0.05; done; echo two")
	task := r.start(o)
	tail, err := task.Tail(t.Context(), process.Stdout, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if _, err := io.ReadFull(tail, b); err != nil || string(b) != "one\n" {
		t.Fatalf("%q, %v: want the first line while it runs", b, err)
	}
	if err := os.WriteFile(filepath.Join(process.Work(o.Dir), "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(tail); err != nil || string(rest) != "two\n" {
		t.Errorf("%q, %v: want the rest and the end", rest, err)
	}
	r.wait(task)
}

// A task that Slurm holds back does not run, so its time limit does not count; when it is cancelled it never runs.
func TestPendingTask(t *testing.T) {
	r := newRig(t, 1)
	first := r.start(r.order("first", "sleep 100"))
	ran := filepath.Join(t.TempDir(), "ran")
	o := r.order("second", "echo x >>"+ran)
	o.Timeout = 100 * time.Millisecond
	said := make(chan string, 100)
	second, err := r.Start(o, func(s external.Saying) { said <- s.Text })
	if err != nil {
		t.Fatal(err)
	}
	for s := ""; !strings.HasPrefix(s, "waits in Slurm as job "); s = <-said {
	}
	third := r.start(r.order("third", "echo x >>"+ran))
	third.Cancel()
	if res := r.wait(third); res.Cause != process.Cancelled || third.Never() {
		t.Errorf("third: %+v: want cancelled", res)
	}
	if runs(ran) != 0 {
		t.Error("a task ran that waited")
	}
	await(t, "the first to run", func() bool { _, err := os.Stat(claimFile(first.Dir(), 1)); return err == nil })
	first.Cancel()
	if res := r.wait(first); res.Cause != process.Cancelled || res.Code() != 143 {
		t.Errorf("first: %+v: want cancelled", res)
	}
	if res := r.wait(second); res.Code() != 0 || runs(ran) != 1 {
		t.Errorf("second: %+v, %d runs: want one, without regard to the time that it waited", res, runs(ran))
	}
}

// The node is killed while one task has ended, one runs and one waits. The next run finds all of them, and none runs
// twice; what nobody wants any more is ended.
func TestRestart(t *testing.T) {
	r := newRig(t, 2)
	gate, ran := filepath.Join(t.TempDir(), "gate"), filepath.Join(t.TempDir(), "ran")
	wait := "; while ! test -e " + gate + "; do sleep 0.05; done"
	ends := r.start(r.order("ends", "echo ends; echo x >>"+ran+"; sleep 0.5"))
	runs1 := r.start(r.order("runs", "echo runs; echo x >>"+ran+wait))
	await(t, "both to run", func() bool { return runs(ran) == 2 })
	waits := r.start(r.order("waits", "echo waits; echo x >>"+ran+wait))
	orphan := r.start(r.order("orphan", "echo x >>"+ran))
	r.Close()
	await(t, "the end of the first", func() bool {
		_, err := os.Stat(filepath.Join(ends.Dir(), endFile))
		return err == nil
	})
	o := r.order("prepared", "echo x >>"+ran) // it was not submitted
	r.open(func(key string) bool { return key != "orphan" })
	if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) || r.adopt("prepared") != nil {
		t.Errorf("a folder without an order: %v: want that it is removed", err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, before := range []*Task{ends, runs1, waits} {
		task := r.adopt(before.order.Key)
		if task == nil {
			t.Fatalf("%s is not found again", before.order.Key)
		}
		if res := r.wait(task); res.Code() != 0 || output(task) != before.order.Key+"\n" {
			t.Errorf("%s: %+v, %q", before.order.Key, res, output(task))
		}
	}
	await(t, "the folder of what nobody wants to go", func() bool {
		_, err := os.Stat(orphan.Dir())
		return errors.Is(err, os.ErrNotExist)
	})
	if n := runs(ran); n != 3 {
		t.Errorf("%d runs: want 3", n)
	}
}

// The controller is away: tasks go on, and their ends are found without it. When it is back all is as before.
func TestControllerIsAway(t *testing.T) {
	r := newRig(t, 2)
	gate := filepath.Join(t.TempDir(), "gate")
	task := r.start(r.order("before", "while ! test -e "+gate+"; do sleep 0.05; done; echo done"))
	await(t, "it to run", func() bool { _, err := os.Stat(claimFile(task.Dir(), 1)); return err == nil })
	long := r.start(r.order("long", "sleep 100"))
	await(t, "it to run", func() bool { _, err := os.Stat(claimFile(long.Dir(), 1)); return err == nil })
	r.cluster.StopController()
	during := r.order("during", "true")
	for range 2 {
		if _, err := r.Start(during, nil); !errors.Is(err, ErrBusy) {
			t.Errorf("start without a controller: %v: want ErrBusy", err)
		}
	}
	if claims, _ := filepath.Glob(filepath.Join(during.Dir, "claim.*")); len(claims) != 1 {
		t.Errorf("claims %v: want one, since the second order was not sent", claims)
	}
	long.Cancel()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if res := r.wait(task); res.Code() != 0 || output(task) != "done\n" {
		t.Errorf("%+v, %q: want the end though no controller answers", res, output(task))
	}
	r.cluster.StartController()
	if res := r.wait(long); res.Cause != process.Cancelled {
		t.Errorf("%+v: want cancelled once the controller is back", res)
	}
	again := r.start(r.order("during", "echo again"))
	if res := r.wait(again); res.Code() != 0 || output(again) != "again\n" {
		t.Errorf("%+v: want that it runs once the controller is back", res)
	}
}

// What Slurm ends of its own is lost, or out of time, and said; a job that is cancelled before it began is refused.
func TestSlurmEndsAJob(t *testing.T) {
	r := newRig(t, 1)
	runs := r.start(r.order("runs", "sleep 100"))
	await(t, "it to run", func() bool { _, err := os.Stat(claimFile(runs.Dir(), 1)); return err == nil })
	waits := r.start(r.order("waits", "sleep 100"))
	cancel := func(task *Task) {
		var l listing
		await(t, "its job", func() bool { l, _ = list(t.Context(), task.Name()); return len(l[task.Name()]) == 1 })
		if err := cancelJobs(context.Background(), []string{l[task.Name()][0].id}); err != nil {
			t.Fatal(err)
		}
	}
	cancel(waits)
	if res := r.wait(waits); res.Cause != process.CannotExecute || !strings.Contains(res.Error, "CANCELLED") {
		t.Errorf("cancelled before it began: %+v", res)
	}
	cancel(runs)
	if res := r.wait(runs); res.Cause != process.Broken || !strings.Contains(res.Error, "CANCELLED") {
		t.Errorf("cancelled while it ran: %+v", res)
	}
}

// What no host can hold, or the partition has no time for, and what sbatch refuses, is refused in words.
func TestRefused(t *testing.T) {
	r := newRig(t, 2)
	r.o.Extra = []string{"constraint=none"}
	for name, change := range map[string]func(*Order){
		"3 processors": func(o *Order) { o.CPUs = 3 }, "4096 MiB": func(o *Order) { o.Memory = 4 << 30 },
		"constraint": func(*Order) {},
		"may run for": func(o *Order) {
			o.Timeout = time.Hour
			r.Engine.cluster.MaxTime = time.Minute
		},
	} {
		o := r.order("o", "true")
		r.Engine.cluster.MaxTime = 0
		change(&o)
		_, err := r.Start(o, nil)
		var no *process.ExecError
		if !errors.As(err, &no) || name != "constraint" && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v: want a refusal that says so", name, err)
		}
	}
}

// sbatch puts a script in the place of sbatch, which calls the program itself as "$real".
func sbatch(t *testing.T, script string) {
	t.Helper()
	program, err := exec.LookPath("sbatch")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := "#!/bin/sh\nreal=" + program + "\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "sbatch"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// The answer of sbatch is lost: the job is found by its name, and no other is submitted.
func TestLostAnswer(t *testing.T) {
	r := newRig(t, 1)
	ran, sent := filepath.Join(t.TempDir(), "ran"), filepath.Join(t.TempDir(), "sent")
	sbatch(t, `"$real" "$@"; echo x >>`+sent+`; echo "Socket timed out on send/recv operation" >&2; exit 1`)
	task := r.start(r.order("o", "echo x >>"+ran))
	if res := r.wait(task); res.Code() != 0 || runs(ran) != 1 || runs(sent) != 1 {
		t.Errorf("%+v, %d runs, %d jobs: want one", res, runs(ran), runs(sent))
	}
}

// A job comes after sbatch has failed and the node has given it up: it runs nothing, and the order runs once, in a job
// that is submitted later.
func TestLateJob(t *testing.T) {
	r := newRig(t, 1)
	ran, late := filepath.Join(t.TempDir(), "ran"), filepath.Join(t.TempDir(), "late")
	sbatch(t, `if test -e `+late+`; then exec "$real" "$@"; fi
(sleep 1; "$real" --wait "$@"; echo x >>`+late+`) </dev/null >/dev/null 2>&1 &
echo "Socket timed out on send/recv operation" >&2; exit 1`)
	if _, err := r.Start(r.order("o", "echo x >>"+ran), nil); !errors.Is(err, ErrBusy) {
		t.Fatalf("%v: want ErrBusy", err)
	}
	await(t, "the late job to end", func() bool { return runs(late) > 0 })
	if runs(ran) > 0 {
		t.Fatal("an order ran that was given up")
	}
	task := r.start(r.order("o", "echo x >>"+ran))
	if res := r.wait(task); res.Code() != 0 || runs(ran) != 1 {
		t.Errorf("%+v, %d runs: want one", res, runs(ran))
	}
}

// The node is killed before its order was submitted: it is not known whether it was, so it is made sure that it never
// runs, and then it may be started again.
func TestKilledBeforeSubmission(t *testing.T) {
	r := newRig(t, 1)
	o := r.order("o", "true")
	o.Submission, o.Step = 1, r.o.Step[0]
	if err := external.WriteRecord(filepath.Join(o.Dir, orderFile), &o); err != nil {
		t.Fatal(err)
	}
	r.Close()
	r.open(func(string) bool { return true })
	task := r.adopt("o")
	if task == nil {
		t.Fatal("the order is not found")
	}
	if r.wait(task); !task.Never() {
		t.Errorf("%+v: want that it never ran", task.Wait())
	}
	if has, _, err := (claim{By: byStep}).take(o.Dir, 1); err != nil || has.By != byNode {
		t.Errorf("%+v, %v: want that no step can claim it", has, err)
	}
	if res := r.wait(r.start(o)); res.Code() != 0 {
		t.Errorf("%+v: want that it runs when it is started again", res)
	}
}

// An attempt whose order never ran is prepared anew after a restart: ending what is left of the first folder does not
// end the job of the second one.
func TestSecondFolder(t *testing.T) {
	r := newRig(t, 1)
	o := r.order("o-1", "true")
	o.Key, o.Submission, o.Step = "o", 1, r.o.Step[0]
	if err := external.WriteRecord(filepath.Join(o.Dir, orderFile), &o); err != nil {
		t.Fatal(err)
	}
	r.Close()
	r.open(func(string) bool { return false })
	again := r.order("o-2", "sleep 1; echo done")
	again.Key = "o"
	task := r.start(again)
	if res := r.wait(task); res.Code() != 0 || output(task) != "done\n" {
		t.Errorf("%+v, %q: want that it runs", res, output(task))
	}
	await(t, "the first folder to go", func() bool { _, err := os.Stat(o.Dir); return errors.Is(err, os.ErrNotExist) })
}
