package exec

import (
	"slices"
	"time"

	"skep/balance/order"
	"skep/grid"
)

// lines is the queued work that Next examines, in lines (package order). Within a line it goes as in the queue.
type lines struct {
	all     *order.Lines[waiting] // nil until work comes
	dormant int                   // queued work that is dormant
	cfg     *order.Config
	law     Law
	now     grid.Time // as last told to Advance
	placed  []*Work   // that have a place
}

type line = order.Line[waiting]

var byArrival order.Config // never changed

// waiting is the work of a line.
type waiting struct {
	awake  []*Work // ready, and not rejected by the gate, as in the queue
	queued []share // all that waits for a slot, by class
}

// turn is the place of work in the order.
type turn struct {
	line     *line   // of WorkQueued and WorkRunning
	expected float64 // of WorkRunning: run time in seconds that counts as use until it ends

	passed    int32     // how often smaller or older work went before it
	place     int32     // as of the last Places, from 1; 0 = none
	submitted grid.Time // when its task was submitted, by its origin
}

// share is the queued work of a class in a line.
type share struct {
	class *class
	cpu   int64 // MilliCPU
	works int
}

// OrderBy sets the rule by which queued work takes turns, before any comes. Without it, it is first come, first served.
// law is what run times are expected; nil = none are. The configuration is kept, and must not change. It also says
// whether queued work has running work suspended, and whether work shares the cores.
func (e *Exec) OrderBy(cfg *order.Config, law Law) {
	e.lines.cfg, e.lines.law = cfg, law
	if e.suspended = nil; cfg.Preempt > 0 || cfg.Reallocate.On() {
		e.suspended = new(suspensions)
	}
	if e.sharing = nil; cfg.LeastSpeed > 0 {
		e.sharing = &sharing{least: cfg.LeastSpeed, cores: e.capacity.CPU.Cores(), left: e.share}
	}
}

// Order returns the lines of the queue, to read; nil until work has come.
func (e *Exec) Order() *order.Lines[waiting] { return e.lines.all }

// enter puts work that comes into its line.
func (q *lines) enter(w *Work, by Owner) {
	if q.all == nil {
		if q.cfg == nil {
			q.cfg = &byArrival
		}
		q.all = order.New[waiting](q.cfg, q.mean)
	}
	s := w.shared
	if !by.forOrigin(w.ID.Task.Job) {
		w.line = q.all.Enter(by.Key(w.ID.Task.Job, w.Spec, s.level))
		return
	}
	if !q.all.Again(s.line) { // but for a demoted task under sjf, all of a job that counts for its origin is of one line
		s.line = q.all.Enter(by.Key(w.ID.Task.Job, w.Spec, s.level))
	}
	w.line = s.line
}

func (q *lines) mean(class string) float64 {
	if q.law == nil {
		return 0
	}
	m, _ := q.law(class)
	return m
}

// release takes work that does not wait and does not run any more out of its line.
func (q *lines) release(w *Work) {
	q.all.Release(w.line)
	w.line = nil
}

// started counts that work runs.
func (q *lines) started(now grid.Time, w *Work) {
	if w.expected = 0; q.all.CountsUse() {
		w.expected = q.mean(w.class.name) / w.class.speedup
	}
	q.all.Start(now, w.line, w.Spec.Needs.CPU.Cores(), w.expected)
}

// ended counts that work does not run any more, which was suspended for a time.
func (q *lines) ended(w *Work, suspended time.Duration) {
	began := w.Started.Add(suspended)
	q.all.End(max(q.now, began), w.line, w.Spec.Needs.CPU.Cores(), w.expected, began)
	q.release(w)
}

// addAwake adds work to its line, if it is awake and ready.
func (e *Exec) addAwake(w *Work) {
	if w.ready && w.sleep == awake {
		list := &w.line.Of.awake
		at, _ := slices.BinarySearchFunc(*list, w.order, byOrder)
		if *list = slices.Insert(*list, at, w); at == 0 {
			e.lines.setFirst(w.line)
		}
	}
}

// removeAwake removes work from its line, if it is awake and ready.
func (e *Exec) removeAwake(w *Work) {
	if w.ready && w.sleep == awake {
		list := &w.line.Of.awake
		first := (*list)[0] == w
		if *list = withoutOrdered(*list, w); first {
			e.lines.setFirst(w.line)
		}
	}
}

// AcceptedAgain sets when restored work came.
func (e *Exec) AcceptedAgain(now grid.Time, w *Work) {
	w.Accepted, w.Since = now, now
	if list := w.line.Of.awake; len(list) > 0 && list[0] == w {
		e.lines.setFirst(w.line)
	}
}

func (q *lines) setFirst(l *line) {
	if list := l.Of.awake; len(list) > 0 {
		q.all.SetFirst(l, list[0].Accepted, true)
	} else {
		q.all.SetFirst(l, 0, false)
	}
}

// dropSleeping removes what the gate has rejected from the lines.
func (q *lines) dropSleeping() {
	for i := len(q.all.Open()) - 1; i >= 0; i-- { // setFirst moves the last one to i
		l := q.all.Open()[i]
		l.Of.awake = slices.DeleteFunc(l.Of.awake, func(w *Work) bool { return w.sleep != awake })
		q.setFirst(l)
	}
}

// inTurn returns the lines in which something waits, in the order of their turns; valid until the next call.
func (q *lines) inTurn(now grid.Time) []*line {
	if q.all == nil {
		return nil
	}
	return q.all.Sorted(now)
}

// count counts work that waits for a slot, in its line.
func (l *waiting) count(w *Work, by int64) {
	at := slices.IndexFunc(l.queued, func(s share) bool { return s.class == w.class })
	if at < 0 {
		at = len(l.queued)
		l.queued = append(l.queued, share{class: w.class})
	}
	s := &l.queued[at]
	s.cpu += by * int64(w.Spec.Needs.CPU)
	if s.works += int(by); s.works == 0 {
		l.queued = slices.Delete(l.queued, at, at+1)
	}
}

// share sets for each class which part of its queued work is ahead of a task with a key; false = all of it is. Where
// one line waits, all that waits is of that line.
func (q *lines) share(now grid.Time, key order.Key, law Law) bool {
	if q.all == nil || key == (order.Key{}) || !q.all.Ranks() {
		return false
	}
	q.all.Each(func(l *line) {
		for _, s := range l.Of.queued {
			s.class.ahead = 0
		}
	})
	work := func(l *line) (n int, all float64) {
		for _, s := range l.Of.queued {
			n += s.works
			all += float64(s.cpu) / float64(grid.CPU) * s.class.mean(law)
		}
		return n, all
	}
	q.all.Ahead(now, key, work, func(l *line, part float64) {
		for _, s := range l.Of.queued {
			s.class.ahead += part * float64(s.cpu) / float64(s.class.cpu())
		}
	})
	return true
}
