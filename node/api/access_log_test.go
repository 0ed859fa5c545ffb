package api

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"skep/grid"
	"skep/node/api/v1"
)

// lines is a log that can be read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// take returns what was written since the last call.
func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	l.b.Reset()
	return s
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// A read or cancellation of another node's job, and a drain of another node, is in that node's log: the act, job or
// node, the node that made it, and its user. Reads of a job under access owner with its capability are not.
func TestAccessLog(t *testing.T) {
	var log lines
	a, b := newFake(t, 1, "alpha"), newFake(t, 2, "beta")
	a.connect(b)
	a.print = [2]string{"x", ""}
	at, via := a.serveAs(Options{Log: log.logger()}).URL, b.serve().URL
	j, o, w := submit(t, at, "bcde", ""), ownerSpec(t, at, "xyza"), submit(t, at, "wwww", "")
	said := func(act, of, id string) string {
		return fmt.Sprintf("msg=access act=%s %s=%s by=%s user=%s", act, of, id, b.self, ownUser())
	}
	for _, tc := range []struct {
		method, path string
		proved       bool
		want         string
	}{
		{"GET", "/v1/jobs/" + j.ID, false, said("describe", "job", j.ID)},
		{"GET", "/v1/jobs/" + j.ID + "/tasks", false, ""}, // logged just now
		{"GET", "/v1/jobs/" + j.ID + "/logs", false, said("logs", "job", j.ID)},
		{"GET", "/v1/jobs/" + j.ID + "/explain", false, said("explain", "job", j.ID)},
		{"GET", "/v1/jobs/" + j.ID + "/blobs/" + strings.Repeat("1", 64), false, said("outputs", "job", j.ID)},
		{"GET", "/v1/jobs/" + j.ID + "/wait?timeout=0", false, ""},                            // the same
		{"GET", "/v1/jobs/" + w.ID + "/wait?timeout=0", false, said("describe", "job", w.ID)}, // a different act
		{"GET", "/v1/jobs/" + o.ID + "/wait?timeout=0", false, ""},
		{"POST", "/v1/jobs/" + j.ID + "/cancel", false, said("cancel", "job", j.ID)},
		{"POST", "/v1/jobs/" + j.ID + "/cancel", false, said("cancel", "job", j.ID)},
		{"POST", "/v1/jobs/" + j.ID + "/cancel", false, ""}, // changes nothing
		{"GET", "/v1/jobs/" + o.ID, false, ""},
		{"GET", "/v1/jobs/" + o.ID + "/logs", false, said("logs", "job", o.ID) + " refused=true"},
		{"GET", "/v1/jobs/" + o.ID + "/logs", true, ""},
		{"POST", "/v1/jobs/" + o.ID + "/cancel", true, said("cancel", "job", o.ID)},
		{"POST", "/v1/nodes/alpha/drain", false, said("drain", "node", a.self.String())},
		{"DELETE", "/v1/nodes/alpha/drain", false, said("undrain", "node", a.self.String())},
		{"GET", "/v1/nodes/alpha/drain", false, ""},
	} {
		log.take()
		var more map[string]string
		if tc.proved {
			more = a.proofHeaders(&key, o.ID, tc.method, tc.path)
		}
		_, text := askWith(t, tc.method, via+tc.path, "", more)
		got := log.take()
		if tc.want == "" && strings.Contains(got, "msg=access") || !strings.Contains(got, tc.want) {
			t.Errorf("%s %s: logged %q: want %q; it answered %s", tc.method, tc.path, got, tc.want, text)
		}
	}
	log.take()
	get[v1.Job](t, "GET", at+"/v1/jobs/"+j.ID, "")
	if got := log.take(); got != "" {
		t.Errorf("who reads at its own node: logged %q: want nothing", got)
	}
}

// The user that another member states is only a name: it cannot forge lines, and is bounded.
func TestStatedUser(t *testing.T) {
	var log lines
	a := newFake(t, 1, "alpha")
	j := submit(t, a.serveAs(Options{Log: log.logger()}).URL, "bcde", "")
	for header, want := range map[string]string{
		url.PathEscape("ada"): "user=ada", url.PathEscape("Zoë"): "user=Zoë", "%zz": `user=""`,
		url.PathEscape("a\nmsg=access act=cancel"): `user=""`,
		url.PathEscape("\u202egnp"):                `user=""`, strings.Repeat("a", grid.MaxUser+1): `user=""`, "": `user=""`,
	} {
		by := grid.NodeID{7, byte(len(header)), want[len(want)-1]}
		a.asMember(by, "GET", "/v1/jobs/"+j.ID, map[string]string{v1.UserHeader: header})
		if got := log.take(); !strings.Contains(got, want) || strings.Count(got, "\n") != 1 ||
			!strings.Contains(got, "by="+by.String()) {
			t.Errorf("user %q: logged %q: want %s, in one line", header, got, want)
		}
	}
}

// logOf is an access log whose clock and timer a test drives.
type logOf struct {
	*accessLog
	lines
	at    time.Time
	timer func()
}

func newLogOf() *logOf {
	l := &logOf{at: time.Unix(1e9, 0)}
	l.accessLog = newAccessLog(l.logger(), nil, nil)
	l.now = func() time.Time { return l.at }
	l.after = func(_ time.Duration, f func()) { l.timer = f }
	return l
}

// does records acts on that many jobs, and returns the number of lines written.
func (l *logOf) does(by grid.NodeID, act string, jobs int) (said int) {
	for i := range jobs {
		l.record(entry{act: act, of: "job", id: fmt.Sprint("job", i), by: by, user: "x"})
	}
	return strings.Count(l.take(), "\n")
}

// However many requests members make, the log's rate is bounded. Neither a flood of reads nor one of cancellations
// hides what others do; suppressed lines are counted and reported later.
func TestAccessLogIsBounded(t *testing.T) {
	l := newLogOf()
	if n := l.does(grid.NodeID{1}, actLogs, 10_000); n != perNode[reading].burst {
		t.Errorf("%d lines of 10,000 reads: want %d", n, perNode[reading].burst)
	}
	if n := l.does(grid.NodeID{1}, actCancel, 1); n != 1 {
		t.Error("after its own reads a node's cancellation is not said")
	}
	for i := range 15 { // more than a burst, of many identities
		l.does(grid.NodeID{2, byte(i)}, actCancel, 10_000)
	}
	for act, by := range map[string]grid.NodeID{actCancel: {3}, actLogs: {4}} {
		if n := l.does(by, act, 1); n != 1 {
			t.Errorf("after the flood another node's %s is not said", act)
		}
	}
	l.record(entry{act: "drain", of: "node", id: "n", by: grid.NodeID{2}, user: "x"})
	if got := l.take(); !strings.Contains(got, "act=drain") {
		t.Errorf("after its cancellations a node's drain is not said: %q", got)
	}
	l.timer()
	got := l.take()
	for _, want := range []string{
		fmt.Sprintf("act=logs job=job9999 by=%s user=x suppressed=%d changes=0",
			grid.NodeID{1}, 10_000-perNode[reading].burst),
		fmt.Sprintf("act=cancel job=job9999 by=%s user=x suppressed=%d changes=%[2]d", grid.NodeID{2, 3},
			10_000-perNode[changing].burst),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("what was not said: %q: want %q", got, want)
		}
	}
	if l.reportSuppressed(); l.take() != "" {
		t.Error("it is said twice")
	}
	began, sum := l.at, 0
	for l.at.Before(began.Add(time.Hour)) {
		l.at = l.at.Add(time.Second)
		for i := range byte(5) {
			sum += l.does(grid.NodeID{3, i, byte(l.at.Unix())}, actLogs, 10)
		}
	}
	if sum > 3600+ofAll[reading].burst {
		t.Errorf("%d lines in an hour of reads by many: want %g a second", sum, float64(ofAll[reading].rate))
	}
	l.timer()
	if n := strings.Count(l.take(), "\n"); n > maxSuppressed+1 {
		t.Errorf("%d lines of what was not said: want at most %d", n, maxSuppressed+1)
	}
}

// A cancellation by a member whose lines are suppressed is named in the report, whatever else it did since.
func TestLastSuppressedChangeIsLogged(t *testing.T) {
	l := newLogOf()
	by := grid.NodeID{1}
	l.does(by, actCancel, perNode[changing].burst)
	l.record(entry{act: actCancel, of: "job", id: "victim", by: by, user: "x"})
	l.does(by, actLogs, 1000)
	l.take()
	l.timer()
	if got := l.take(); !strings.Contains(got, "act=cancel job=victim") || !strings.Contains(got, "changes=1\n") {
		t.Errorf("%q: want the cancellation named", got)
	}
}

// A cancellation that changes nothing is not charged to the allowance of changes.
func TestCancellingAnEndedJobCountsAsARead(t *testing.T) {
	var log lines
	a := newFake(t, 1, "alpha")
	j := submit(t, a.serveAs(Options{Log: log.logger()}).URL, "bcde", "")
	cancel := "/v1/jobs/" + j.ID + "/cancel"
	for range 3 {
		a.asMember(grid.NodeID{7}, "POST", cancel, nil)
	}
	if got := log.take(); strings.Count(got, "act=cancel") != 2 { // the second and third are the same read
		t.Errorf("logged %q: want the cancellation, and once that it was asked for again", got)
	}
}

// Reads by local users of a job of another origin that is replicated here are in this node's log.
func TestLocalReadsOfForeignJobs(t *testing.T) {
	var log lines
	b := newFake(t, 2, "beta")
	id := grid.JobID{Origin: grid.NodeID{1}, Nonce: [10]byte{5}}
	spec := ownerAccessSpec()
	spec.Capability = grid.CapabilityHash{}
	b.addReplica(id, spec, grid.NodeID{1}, b.self, grid.NodeID{3})
	url := b.serveAs(Options{Log: log.logger()}).URL
	ask(t, "GET", url+"/v1/jobs/"+id.String()+"/explain", "")
	if got, want := log.take(), fmt.Sprintf("act=explain job=%s by=%s user=%s", id, b.self,
		ownUser()); !strings.Contains(got, want) {
		t.Errorf("logged %q: want %q", got, want)
	}
}
