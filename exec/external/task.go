package external

import (
	"os"
	"sync"
	"time"

	"skep/exec/process"
	"skep/exec/terminal"
)

// Task is what the tasks of all such engines have: how they are asked to end, and how they have ended.
type Task struct {
	key, name, dir string
	keep           []string
	ended          func(process.Result) // of its table, before the end is published
	remove         func(dir string)     // removes its folder
	soon           func()               // has it looked after soon

	mu     sync.Mutex
	since  time.Time     // when the other system was told of it; zero = it is about to be
	asked  process.Cause // why it shall end; 0 = it need not
	why    string        // what is said about that
	orphan bool          // its folder is removed at its end
	over   bool          // it has ended
	said   func(Saying)  // may be nil
	last   Saying

	done   chan struct{}
	result process.Result
	never  bool
}

// Saying is what is said of a task while it is not over: how far it is, and where it stands in the other system.
type Saying struct {
	Done, Total float64 // 0, 0 = it has not said
	Text        string
}

// Wait waits until the task has ended and its output is complete, and returns the result. Where the engine was closed
// before, that is of cause Broken.
func (t *Task) Wait() process.Result {
	<-t.done
	return t.result
}

// Done is closed when the task has ended, or its engine was closed.
func (t *Task) Done() <-chan struct{} { return t.done }

// Never reports, after Wait, that the task has not run and will not, and that nobody has asked for that. It may be
// started again.
func (t *Task) Never() bool { return t.never }

// Key names the attempt, Name what there is of it in the other system.
func (t *Task) Key() string { return t.key }

// Name is unique among the tasks of an engine.
func (t *Task) Name() string { return t.name }

// Dir is the folder of its attempt.
func (t *Task) Dir() string { return t.dir }

// Keep is what the order was given to keep.
func (t *Task) Keep() []string { return t.keep }

// Cancel has the task end, or never begin. It does not wait.
func (t *Task) Cancel() { t.ask(process.Cancelled, "cancelled") }

// Full ends the task, whose files have filled the disk; the result says why.
func (t *Task) Full(why string) { t.ask(process.DiskExceeded, why) }

func (t *Task) ask(c process.Cause, why string) {
	t.mu.Lock()
	if t.asked == 0 {
		t.asked, t.why = c, why
	}
	t.mu.Unlock()
	t.soon()
}

// Abandon has the task end and its folder be removed.
func (t *Task) Abandon() {
	t.mu.Lock()
	t.orphan = true
	over := t.over
	t.mu.Unlock()
	if over {
		t.remove(t.dir)
		return
	}
	t.Cancel()
}

// Asked returns why the task shall end; 0 = it need not.
func (t *Task) Asked() process.Cause {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked
}

// Suspend does nothing: a node with such an engine suspends no task.
func (t *Task) Suspend() {}

// Resume does nothing, as Suspend.
func (t *Task) Resume() {}

// Note does nothing: what the task prints is written elsewhere.
func (t *Task) Note(string) {}

// Type returns an error: there are no terminals.
func (t *Task) Type([]byte) error { return os.ErrClosed }

// Resize returns an error, as Type.
func (t *Task) Resize(terminal.Size) error { return os.ErrClosed }

// Listen has said called with what is said of the task from now on, and with the last of it.
func (t *Task) Listen(said func(Saying)) {
	t.mu.Lock()
	t.said = said
	last := t.last
	t.mu.Unlock()
	if last != (Saying{}) && said != nil {
		said(last)
	}
}

// Say passes on what is said of the task, if that is news, and reports whether it is.
func (t *Task) Say(s Saying) (news bool) {
	t.mu.Lock()
	said, news := t.said, s != t.last
	t.last = s
	t.mu.Unlock()
	if news && said != nil {
		said(s)
	}
	return news
}

// Last is what was said last.
func (t *Task) Last() Saying {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Handed notes that the other system was told of the task, or may have been: from now on it means something if it does
// not know it.
func (t *Task) Handed() {
	t.mu.Lock()
	t.since = time.Now()
	t.mu.Unlock()
	t.soon()
}

// HandedBefore reports whether that was before a moment.
func (t *Task) HandedBefore(at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.since.IsZero() && t.since.Before(at)
}

// Finish publishes the result. Where the task was asked to end that is why it has, unless its time was over.
func (t *Task) Finish(r process.Result) {
	t.mu.Lock()
	if t.asked != 0 && r.Cause != process.TimedOut {
		r.Cause, r.Error = t.asked, t.why
	}
	t.mu.Unlock()
	t.ended(r)
	t.result = r
	close(t.done)
	t.mu.Lock()
	t.over = true
	orphan := t.orphan
	t.mu.Unlock()
	if orphan {
		t.remove(t.dir)
	}
}

// FinishNever publishes that the task has not run and will not; the result says why.
func (t *Task) FinishNever(why string) {
	t.never = t.Asked() == 0
	t.Finish(process.Result{Cause: process.Broken, Error: why})
}

// leave lets go of who waits for the task, which goes on.
func (t *Task) leave() {
	t.result = process.Result{Cause: process.Broken, Error: "the node was stopped"}
	close(t.done)
}
