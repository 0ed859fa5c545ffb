package slurm

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"skep/exec/external"
)

// A node whose controller does not answer, or has no host that takes jobs, takes no tasks, also while it has none, and
// takes some again when it has.
func TestNodeIsClosedWhileNoControllerAnswers(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	is := func(text string) {
		t.Helper()
		err := os.WriteFile(state+"-new", []byte(text), 0o600)
		if err = errors.Join(err, os.Rename(state+"-new", state)); err != nil {
			t.Fatal(err)
		}
	}
	is("idle\n")
	script(t, "sinfo", `read s <`+state+`; test "$s" != silent && echo "h|4|1000|infinite|p*|$s"`)
	script(t, "squeue", "exit 1")
	away := make(chan bool, 10)
	e, err := Open(Options{Dir: t.TempDir(), Data: t.TempDir(), Node: "test", Step: []string{"step"},
		Health: 30 * time.Millisecond, Away: func(x bool) { away <- x }}, &Cluster{Partition: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	if err := e.Former(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		state string
		away  bool
	}{{"silent", true}, {"idle", false}, {"down", true}, {"mixed", false}} {
		is(x.state + "\n")
		select {
		case got := <-away:
			if got != x.away {
				t.Errorf("%s: away %t: want %t", x.state, got, x.away)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: nothing is said in a minute: want away %t", x.state, x.away)
		}
	}
}

// The order of a job that runs was removed, as by a cleaner of old files, while the node was stopped: the job is not
// taken for one that was never submitted, and its attempt does not run twice.
func TestOrderIsRemoved(t *testing.T) {
	r := newRig(t, 1)
	ran := filepath.Join(t.TempDir(), "ran")
	o := r.order("o", "echo x >>"+ran+"; sleep 100")
	r.start(o)
	await(t, "it to run", func() bool { return runs(ran) == 1 })
	r.Close()
	if err := os.Remove(filepath.Join(o.Dir, orderFile)); err != nil {
		t.Fatal(err)
	}
	r.open(func(string) bool { return true })
	if task, err := r.Adopt("o", nil); task != nil || !errors.Is(err, external.ErrUnread) {
		t.Errorf("%v, %v: want ErrUnread", task, err)
	}
	if _, err := os.Stat(o.Dir); err != nil {
		t.Errorf("%v: want that the folder of what may run stays", err)
	}
}

// The start lease runs out while other orders are handed over: nothing is submitted, and no order is left.
func TestLeaseRunsOutWhileOthersAreSent(t *testing.T) {
	r := newRig(t, 1)
	for range cap(r.sending) {
		r.sending <- struct{}{}
	}
	o, valid := r.order("late", "true"), make(chan bool, 1)
	o.MayStart = func() bool { return <-valid }
	failed := make(chan error, 1)
	go func() {
		_, err := r.Start(o, nil)
		failed <- err
	}()
	valid <- false
	<-r.sending
	if err := <-failed; !errors.Is(err, ErrBusy) {
		t.Errorf("%v: want ErrBusy", err)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, orderFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v: want no order", err)
	}
	for range cap(r.sending) - 1 {
		<-r.sending
	}
}
