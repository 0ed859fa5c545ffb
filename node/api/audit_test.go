package api

import (
	"errors"
	"sync"
	"testing"
	"time"

	"skep/grid"
	"skep/node/api/audit"
)

// acts are an audit in memory.
type acts struct {
	mu   sync.Mutex
	all  []audit.Act
	sure int // durable ones
	full bool
}

func (a *acts) Append(x *audit.Act, durable bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.full {
		return errors.New("no space left")
	}
	if a.all = append(a.all, *x); durable {
		a.sure++
	}
	return nil
}

func (a *acts) take() (all []audit.Act, sure int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all, sure = a.all, a.sure
	a.all, a.sure = nil, 0
	return all, sure
}

// What another node does with a job, or to this node, is in the audit: who, by the name and ID that its connection has
// proved, what, and whether it was let through. What this node does with its own jobs is not.
func TestAudit(t *testing.T) {
	var kept acts
	a, b := newFake(t, 1, "alpha"), newFake(t, 2, "beta")
	a.connect(b)
	at, via := a.serveAs(Options{Audit: &kept, Admins: []grid.NodeID{a.self}}).URL, b.serve().URL
	j, o := submit(t, at, "bcde", ""), ownerSpec(t, at, "xyza")
	ask(t, "GET", at+"/v1/jobs/"+j.ID, "")
	if all, _ := kept.take(); len(all) != 0 {
		t.Errorf("%+v is audited of one's own acts", all)
	}
	for _, c := range []struct {
		method, path          string
		verb, of, id, outcome string
		durable               int
	}{
		{"GET", "/v1/jobs/" + j.ID + "/logs", "logs", "job", j.ID, audit.Allowed, 0},
		{"POST", "/v1/jobs/" + j.ID + "/cancel", "cancel", "job", j.ID, audit.Allowed, 1},
		{"POST", "/v1/jobs/" + j.ID + "/cancel", "cancel", "job", j.ID, audit.Nothing, 0},
		{"GET", "/v1/jobs/" + o.ID + "/logs", "logs", "job", o.ID, audit.Refused, 0},
		{"POST", "/v1/nodes/alpha/drain", "drain", "node", a.self.String(), audit.Refused, 0},
	} {
		ask(t, c.method, via+c.path, "")
		all, sure := kept.take()
		want := audit.Act{Node: b.self.String(), Name: "beta", User: ownUser(), Verb: c.verb, Of: c.of, Object: c.id,
			Outcome: c.outcome}
		if len(all) != 1 || sure != c.durable || time.Since(all[0].Time) > time.Hour {
			t.Errorf("%s %s: %+v, %d for certain", c.method, c.path, all, sure)
			continue
		}
		all[0].Time, all[0].Name = time.Time{}, "beta" // whether its name is known yet depends on news
		if all[0] != want {
			t.Errorf("%s %s: %+v, want %+v", c.method, c.path, all[0], want)
		}
	}
	kept.full = true // what cannot be audited is done all the same, and logged
	if status, text := ask(t, "GET", via+"/v1/jobs/"+j.ID+"/explain", ""); status != 200 {
		t.Errorf("with a full audit: %d %s", status, text)
	}
}

// A flood of one node has few lines, and one that says how much there was beyond: see TestAccessLog's bounds.
func TestAuditOfAFlood(t *testing.T) {
	var kept acts
	l := newLimitedLog(t, &kept)
	for i := range 1000 {
		l.record(entry{act: actCancel, of: "job", id: string(rune('a'+i%26)) + time.Duration(i).String(), by: grid.NodeID{7}})
	}
	l.reportSuppressed()
	all, _ := kept.take()
	n := perNode[changing].burst
	if len(all) != n+1 {
		t.Fatalf("%d lines: want %d and one more", len(all), n)
	}
	if last := all[n]; last.More != 1000-n-1 || last.Changes != 1000-n || last.Name != "seven" {
		t.Errorf("the last line is %+v", last)
	}
}

// newLimitedLog is an access log whose clock stands still.
func newLimitedLog(t *testing.T, a Audit) *accessLog {
	t.Helper()
	var log lines
	l := newAccessLog(log.logger(), a, func(grid.NodeID) string { return "seven" })
	at := time.Unix(1e9, 0)
	l.now, l.after = func() time.Time { return at }, func(time.Duration, func()) {}
	return l
}
