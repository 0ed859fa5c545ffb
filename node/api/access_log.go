package api

import (
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"skep/grid"
)

// allowances are lines a second in the long run, and at once. What changes something, what reads, and draining are counted apart, and each
// node apart from the others: of all that may be said a node has a small part, so that nobody hides another's acts behind its own.
type allowances struct {
	rate  rate.Limit
	burst int
}

// Bounds of what others can have written to the log.
var (
	perNode = [kinds]allowances{reading: {0.1, 60}, changing: {0.05, 200}, draining: {0.02, 20}}
	ofAll   = [kinds]allowances{reading: {1, 2000}, changing: {1, 4000}, draining: {0.2, 400}}
)

const (
	maxLogged     = 256         // nodes whose bounds are remembered
	maxRepeats    = 4096        // reads that are remembered
	repeatAfter   = time.Minute // the same read again is not said before
	maxSuppressed = 32          // nodes of whom it is said what was left out; of the others, together
	reportEvery   = time.Minute // it is said at the latest then
)

// kind is which allowance an entry takes of.
type kind int

const (
	reading kind = iota
	changing
	draining
	kinds
)

// entry is what somebody did: which act, to which job or node, and who.
type entry struct {
	act      string
	of, id   string
	by       grid.NodeID
	user     string // as that node says
	refused  bool
	noChange bool // it changes nothing: the job is over
}

func (e *entry) kind() kind {
	switch {
	case e.refused || e.noChange:
		return reading
	case e.of == "node":
		return draining
	case e.act == actCancel:
		return changing
	}
	return reading
}

// accessLog says in a node's log what others do with its jobs and to it.
type accessLog struct {
	log   *slog.Logger
	now   func() time.Time // of tests
	after func(time.Duration, func())

	mu         sync.Mutex
	nodes      *simplelru.LRU[grid.NodeID, *allowance]
	recent     *simplelru.LRU[entry, time.Time]
	all        *allowance
	suppressed map[grid.NodeID]*suppressed // the zero node: all others
	armed      bool                        // what was not said will be
}

// allowance is what may still be said of each kind.
type allowance [kinds]*rate.Limiter

func allow(of *[kinds]allowances) *allowance {
	a := new(allowance)
	for k, x := range of {
		a[k] = rate.NewLimiter(x.rate, x.burst)
	}
	return a
}

// suppressed is what a node did that was left out since this was said last.
type suppressed struct {
	acts, changes int
	last          entry // the last change; the last act if there was none
}

func newAccessLog(log *slog.Logger) *accessLog {
	nodes, err := simplelru.NewLRU[grid.NodeID, *allowance](maxLogged, nil)
	if err != nil {
		panic("api: access log: " + err.Error())
	}
	said, err := simplelru.NewLRU[entry, time.Time](maxRepeats, nil)
	if err != nil {
		panic("api: access log: " + err.Error())
	}
	return &accessLog{log: log, now: time.Now, after: func(d time.Duration, f func()) { time.AfterFunc(d, f) }, nodes: nodes, recent: said,
		all: allow(&ofAll), suppressed: map[grid.NodeID]*suppressed{}}
}

// record writes a line, unless the same read was written just now or there are too many: then it is counted.
func (l *accessLog) record(e entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, k := l.now(), e.kind()
	if k == reading {
		if at, ok := l.recent.Get(e); ok && now.Sub(at) < repeatAfter {
			return
		}
	}
	own, ok := l.nodes.Get(e.by)
	if !ok {
		own = allow(&perNode)
		l.nodes.Add(e.by, own)
	}
	if !own[k].AllowN(now, 1) || !l.all[k].AllowN(now, 1) {
		l.suppress(e, k)
		return
	}
	if k == reading {
		l.recent.Add(e, now)
	}
	l.write(&e)
}

func (l *accessLog) write(e *entry, more ...any) {
	args := []any{"act", e.act, e.of, e.id, "by", e.by.String(), "user", e.user}
	if e.refused {
		args = append(args, "refused", true)
	}
	l.log.Info("access", append(args, more...)...)
}

// suppress counts what is not said.
func (l *accessLog) suppress(e entry, k kind) {
	who := e.by
	if l.suppressed[who] == nil && len(l.suppressed) >= maxSuppressed {
		who = grid.NodeID{}
	}
	u := l.suppressed[who]
	if u == nil {
		u = &suppressed{}
		l.suppressed[who] = u
	}
	u.acts++
	if k != reading {
		u.changes++
	}
	if k != reading || u.changes == 0 {
		u.last = e
	}
	if !l.armed {
		l.armed = true
		l.after(reportEvery, l.reportSuppressed)
	}
}

// reportSuppressed says what was left out: for each node how much, how much of it changed something, and the last of that.
func (l *accessLog) reportSuppressed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for who, u := range l.suppressed {
		more := []any{"unsaid", u.acts, "changes", u.changes}
		if who.IsZero() {
			more = append(more, "and", "others")
		}
		l.write(&u.last, more...)
	}
	clear(l.suppressed)
	l.armed = false
}
