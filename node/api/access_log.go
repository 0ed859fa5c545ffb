package api

import (
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"skep/grid"
	"skep/node/api/audit"
)

// allowances bound log lines: a second in the long run, and at once. Changes, reads and draining are counted
// separately, and so is each node: a node has a small part of the total, so that none can hide another's acts
// behind its own.
type allowances struct {
	rate  rate.Limit
	burst int
}

// Bounds of the lines about others.
var (
	perNode = [kinds]allowances{reading: {0.1, 60}, changing: {0.05, 200}, draining: {0.02, 20}}
	ofAll   = [kinds]allowances{reading: {1, 2000}, changing: {1, 4000}, draining: {0.2, 400}}
)

const (
	maxUser       = 64          // bytes of a user's name that are audited
	maxLogged     = 256         // nodes whose bounds are tracked
	maxRepeats    = 4096        // reads that are remembered
	repeatAfter   = time.Minute // the same read is not logged again before
	maxSuppressed = 32          // nodes whose suppressed lines are reported one by one; of the others, together
	reportEvery   = time.Minute // they are reported at the latest then
)

// kind is the allowance that an entry is charged to.
type kind int

const (
	reading kind = iota
	changing
	draining
	kinds
)

// entry is one access: act, object, and who did it.
type entry struct {
	act      string
	of, id   string
	by       grid.NodeID
	user     string // as that node states
	refused  bool
	noChange bool // it changes nothing: the job is over
}

func (e *entry) kind() kind {
	switch {
	case e.refused || e.noChange:
		return reading
	case e.of == "node":
		return draining
	case e.act == actCancel || e.act == actRetry:
		return changing
	}
	return reading
}

func (e *entry) outcome() string {
	switch {
	case e.refused:
		return audit.Refused
	case e.noChange:
		return audit.Nothing
	}
	return audit.Allowed
}

// Audit keeps what others have done. An *audit.Log does.
type Audit interface {
	// Append keeps an act, for certain if it is to be durable.
	Append(a *audit.Act, durable bool) error
}

// accessLog logs on a node what others do with its jobs and to it, and has it audited.
type accessLog struct {
	log   *slog.Logger
	audit Audit                    // nil = none
	name  func(grid.NodeID) string // of a node, "" = it is not known
	now   func() time.Time         // replaced in tests
	after func(time.Duration, func())

	mu         sync.Mutex
	nodes      *simplelru.LRU[grid.NodeID, *allowance]
	recent     *simplelru.LRU[entry, time.Time]
	all        *allowance
	suppressed map[grid.NodeID]*suppressed // the zero node: all others
	armed      bool                        // reportSuppressed is scheduled
	acts       []audited                   // to be kept once mu is given up: that asks for names, and syncs
}

// audited is an act that is to be kept, and how many more there were without a line of their own.
type audited struct {
	entry
	more, changes int
}

// allowance holds the limiters of each kind.
type allowance [kinds]*rate.Limiter

func allow(of *[kinds]allowances) *allowance {
	a := new(allowance)
	for k, x := range of {
		a[k] = rate.NewLimiter(x.rate, x.burst)
	}
	return a
}

// suppressed counts a node's lines that were left out since the last report.
type suppressed struct {
	acts, changes int
	last          entry // the last change; the last act if there was none
}

func newAccessLog(log *slog.Logger, a Audit, name func(grid.NodeID) string) *accessLog {
	nodes, err := simplelru.NewLRU[grid.NodeID, *allowance](maxLogged, nil)
	if err != nil {
		panic("api: access log: " + err.Error())
	}
	said, err := simplelru.NewLRU[entry, time.Time](maxRepeats, nil)
	if err != nil {
		panic("api: access log: " + err.Error())
	}
	return &accessLog{log: log, audit: a, name: name, now: time.Now,
		after: func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		nodes: nodes, recent: said,
		all: allow(&ofAll), suppressed: map[grid.NodeID]*suppressed{}}
}

// record writes a line, unless the same read was logged just now or there are too many: then it is counted.
func (l *accessLog) record(e entry) {
	l.mu.Lock()
	defer l.unlock()
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
	l.acts = append(l.acts, audited{e, 0, 0})
}

// unlock gives mu up, and has the acts audited that were recorded meanwhile.
func (l *accessLog) unlock() {
	acts := l.acts
	l.acts = nil
	l.mu.Unlock()
	if l.audit == nil {
		return
	}
	for _, e := range acts {
		a := audit.Act{Time: l.now().UTC(), Node: e.by.String(), Name: l.name(e.by), User: grid.Clean(e.user, maxUser),
			Verb: e.act, Of: e.of, Object: e.id, Outcome: e.outcome(), More: e.more, Changes: e.changes}
		if err := l.audit.Append(&a, e.kind() != reading || e.changes > 0); err != nil {
			l.log.Error("an act is not in the audit", "error", err)
		}
	}
}

func (l *accessLog) write(e *entry, more ...any) {
	args := []any{"act", e.act, e.of, e.id, "by", e.by.String(), "user", e.user}
	if e.refused {
		args = append(args, "refused", true)
	}
	l.log.Info("access", append(args, more...)...)
}

// suppress counts a line that is not written.
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

// reportSuppressed logs what was left out: for each node how many acts, how many of them changes, and the last
// change.
func (l *accessLog) reportSuppressed() {
	l.mu.Lock()
	defer l.unlock()
	for who, u := range l.suppressed {
		more := []any{"suppressed", u.acts, "changes", u.changes}
		if who.IsZero() {
			more = append(more, "and", "others")
		}
		l.write(&u.last, more...)
		l.acts = append(l.acts, audited{u.last, u.acts - 1, u.changes})
	}
	clear(l.suppressed)
	l.armed = false
}
