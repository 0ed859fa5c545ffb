package reputation

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

// deliver gives a node an attempt that it ends after took, where a second is usual.
func (r *Records) deliver(now grid.Time, id grid.NodeID, took time.Duration) grid.Time {
	p := grid.Expectation{Made: now}
	r.Open(id).Given(now, &p, 0, 1)
	now = now.Add(took)
	r.Returned(now, &p, id, true)
	return now
}

// Before its first result a node gets a few tasks for each core, bounded however many cores it claims.
func TestProbationIsBounded(t *testing.T) {
	for _, c := range []struct {
		cores grid.MilliCPU
		want  int
	}{{grid.CPU, minProbation}, {8 * grid.CPU, 8 * probationPerCore},
		{grid.MaxMillis, probationCores * probationPerCore}} {
		s := &Record{}
		for !s.OnProbation(0, c.cores) {
			s.due = append(s.due, grid.Never)
		}
		if len(s.due) != c.want {
			t.Errorf("%d tasks for a node of %d cores that has delivered none, want %d", len(s.due), c.cores/grid.CPU, c.want)
		}
		if s.results = 1; s.OnProbation(0, c.cores) {
			t.Error("a result changes nothing")
		}
	}
}

// The claimed availability of a node that loses its attempts is replaced by the share of attempts that it returned.
func TestReturnRate(t *testing.T) {
	var r Records
	now := grid.Time(0)
	s := r.Open(fastID)
	if a := s.ReturnRate(now); a != 1 {
		t.Errorf("of who was given nothing %g is believed, want what it says", a)
	}
	for range 8 {
		now = now.Add(time.Second)
		r.Lost(now, fastID, time.Second)
	}
	if a := s.ReturnRate(now); a > 0.25 {
		t.Errorf("eight of eight were lost, and %g is believed", a)
	}
	for range 30 {
		now = r.deliver(now, fastID, time.Second)
	}
	if a := s.ReturnRate(now); a < 0.75 {
		t.Errorf("thirty came back since, and %g is believed", a)
	}
	if a := s.ReturnRate(now.Add(time.Hour)); a < 0.99 {
		t.Errorf("after an hour %g is believed: want it forgiven", a)
	}
}

// An attempt is outstanding until it is returned, once; its result then replaces the node's claims.
func TestResultsReplaceClaims(t *testing.T) {
	var r Records
	if s := r.Of(fastID); s.Delivered() || s.Late(1) || s.BackingOff(1) || s.OnProbation(1, grid.CPU) {
		t.Error("something is known of a node that was given nothing")
	}
	now, p := grid.Time(1e9), grid.Expectation{Made: 1e9}
	s := r.Open(fastID)
	s.Given(now, &p, 0, 1)
	if late := now.Add(lateFactor*time.Second) + lateSlack; s.Late(late-1) || !s.Late(late) {
		t.Error("want the attempt late after four usual run times and a second")
	}
	if x := s.CompletionTime(now, 0, 1, 2); x != 2 {
		t.Errorf("before its first result %g s are believed, want the floor", x)
	}
	if mu := s.ExecutionRate(now, 100, 1, 1); mu != maxBoast {
		t.Errorf("before its first result a rate of %g is believed, want %d times the usual one", mu, maxBoast)
	}
	r.TakeChange()
	now = now.Add(8 * time.Second)
	if !r.Returned(now, &p, fastID, true) || len(s.due) != 0 || !r.TakeChange() || r.TakeChange() {
		t.Error("want the result to be taken, and one change")
	}
	if r.Returned(now, &p, fastID, true) || s.results != 1 {
		t.Error("it is returned twice")
	}
	if x := s.CompletionTime(now, 0, 1, 2); x != 8/overrunTolerance {
		t.Errorf("%g s are believed, want half of the 8 s that it took", x)
	}
	if s.Proven() || !s.Delivered() || s.Cores(9*grid.CPU) != grid.CPU {
		t.Error("a node that takes eight times as long counts as proven")
	}
	if now = r.deliver(now, slowID, time.Second); !r.TakeChange() {
		t.Error("a first result is no change")
	}
	if now = r.deliver(now, slowID, time.Second); r.TakeChange() {
		t.Error("a second result on time is a change")
	}
	for range 30 {
		now = r.deliver(now, fastID, time.Second)
	}
	if !s.Proven() || s.Cores(900*grid.CPU) != 900*grid.CPU ||
		r.Of(selfID).Cores(900*grid.CPU) != probationCores*grid.CPU {
		t.Error("want all cores of a proven node, and not of an unknown one")
	}
}

// The records are bounded: the idle node whose last result is oldest goes.
func TestRecordsAreBounded(t *testing.T) {
	var r Records
	id := func(i int) grid.NodeID { return grid.NodeID{1, byte(i), byte(i >> 8)} }
	var p grid.Expectation
	r.deliver(1, id(1), time.Second)
	r.Open(id(1)).Given(2, &p, 0, 1) // it has another attempt
	r.deliver(2, id(0), time.Second)
	for i := 2; i <= maxRecords; i++ {
		r.deliver(grid.Time(i+1), id(i), time.Second)
	}
	if len(r.list) != maxRecords || r.Of(id(1)) == nil || r.Of(id(0)) != nil || r.Of(id(2)) == nil {
		t.Errorf("%d records: want %d, the oldest idle one evicted", len(r.list), maxRecords)
	}
	at := r.Cursor()
	for i := range 3 * maxRecords {
		if id := (grid.NodeID{1, byte(i >> 8), byte(i)}); at.Next(id) != r.Of(id) {
			t.Fatalf("the cursor has another record of %v", id.Short())
		}
	}
}

// The age at which an attempt is a straggler, by what is known: each row changes one thing of the first.
func TestStragglerAge(t *testing.T) {
	usual := grid.RunEstimate{RunTime: 1, Known: true}
	for name, c := range map[string]struct {
		change     func(r *Records, u *grid.RunEstimate)
		overtakers int
		want       float64 // seconds
	}{
		"a short class": {nil, 100, minReclaimAge},
		"a long class":  {func(_ *Records, u *grid.RunEstimate) { u.RunTime = 100 }, 100, lateFactor * 100},
		"with inputs": {func(_ *Records, u *grid.RunEstimate) { u.RunTime, u.Fetch = 100, 10 }, 100,
			lateFactor * 110},
		"that varies": {func(_ *Records, u *grid.RunEstimate) { u.RunTime, u.Variation = 100, 2 }, 100,
			400 * (1 + 2*variationWeight)},
		"reclaimed twice":   {func(_ *Records, u *grid.RunEstimate) { u.Reclaims = 2 }, 100, 4 * minReclaimAge},
		"nothing else ends": {nil, minOvertakers - 1, unknownFactor * minReclaimAge},
		"others say how long": {func(_ *Records, u *grid.RunEstimate) { u.Known = false }, 100,
			unknownFactor * minReclaimAge},
		"a time limit": {func(_ *Records, u *grid.RunEstimate) { u.Limit = time.Hour }, 100,
			minReclaimAge + lateFactor + 3600},
		"a reliable node": {func(r *Records, _ *grid.RunEstimate) { r.Of(fastID).onTime = 2 }, 100,
			trustedFactor * minReclaimAge},
		"who had one before": {func(r *Records, _ *grid.RunEstimate) { r.Of(fastID).reclaimed = 1 }, 100, lateFactor},
		"had one, third place": {func(r *Records, u *grid.RunEstimate) { r.Of(fastID).reclaimed, u.Reclaims = 1, 2 }, 100,
			4 * lateFactor},
	} {
		var r Records
		begin := grid.Time(1e9)
		p, late := grid.Expectation{Made: begin}, grid.Expectation{}
		r.Open(fastID).Given(0, &late, 0, 1e-9) // another attempt
		for range minOvertakers {
			r.CountResult() // before the attempt was made
		}
		r.Start(begin, &p)
		r.Open(fastID).Given(begin, &p, 0, 0) // when it becomes late is not known yet
		u := usual
		if c.change != nil {
			c.change(&r, &u)
		}
		for range c.overtakers {
			r.CountResult()
		}
		at := begin.Add(grid.Seconds(c.want))
		if r.Straggler(at-1e6, &p, fastID, u) || !r.Straggler(at+1e6, &p, fastID, u) {
			t.Errorf("%s: want it a straggler after %g s, and not before", name, c.want)
		}
		if dated := r.Of(fastID).lateCount(begin.Add(time.Hour)) == 2; dated != (u.Limit == 0) {
			t.Errorf("%s: it becomes late: %v", name, dated)
		}
	}
}

// A node whose straggler was reclaimed gets nothing for a while, each time for longer; then one attempt, and its result
// takes one step back.
func TestReclaimedNodeBacksOff(t *testing.T) {
	var r Records
	now := grid.Time(1e9)
	for k := range 3 {
		p := grid.Expectation{Made: now}
		r.Open(fastID).Given(now, &p, 0, 1)
		now = now.Add(time.Minute)
		r.Reclaimed(now, fastID)
		r.Returned(now, &p, fastID, false)
		s, pause := r.Of(fastID), minBackoff<<(k+1)
		if !s.BackingOff(now.Add(pause-1)) || s.BackingOff(now.Add(pause)) {
			t.Errorf("back-off %d: want %v", k+1, pause)
		}
		now = now.Add(pause)
	}
	s, p := r.Of(fastID), grid.Expectation{Made: now}
	if s.OnProbation(now, grid.CPU) {
		t.Error("it is never probed")
	}
	if s.Given(now, &p, 0, 0); !s.OnProbation(now, grid.CPU) {
		t.Error("two attempts probe it at once")
	}
	if r.Returned(now, &p, fastID, true); s.reclaimed != 2 {
		t.Errorf("a result leaves %d of 3 steps, want 2", s.reclaimed)
	}
	r.TakeChange()
	r.Reclaimed(now, slowID) // of which nothing is known
	if r.Of(slowID) != nil || !r.TakeChange() {
		t.Error("want a change, and no record of a node that was given nothing")
	}
}

// Claimed arrivals are believed as far as the peer could run them itself, or gives a share of them.
func TestTrustedShare(t *testing.T) {
	var r Received
	now, memory := grid.Time(1e9), time.Minute
	share := func(claimed float64, cores grid.MilliCPU) float64 {
		return r.TrustedShare(now, memory, claimed, cores, 10)
	}
	for _, c := range []struct {
		claimed float64
		cores   grid.MilliCPU
		want    float64
	}{
		{1, grid.CPU, 1}, {4, grid.CPU, 0.25}, {4, 4 * grid.CPU, 1}, {80, 1000 * grid.CPU, 0.1},
		{math.Inf(1), grid.CPU, 0}, {math.NaN(), grid.CPU, 0},
	} {
		if got := share(c.claimed, c.cores); got != c.want {
			t.Errorf("of arrivals for %g cores claimed by a node of %d a share of %g is believed, want %g",
				c.claimed, c.cores/grid.CPU, got, c.want)
		}
	}
	r.Add(now, memory, 30) // half a core in a minute: five cores if each of ten peers gets as much
	if got := share(10, grid.CPU); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("a share of %g is believed, want a half", got)
	}
	if now = now.Add(memory); math.Abs(share(10, grid.CPU)-0.5/math.E) > 1e-9 {
		t.Errorf("after one time constant a share of %g is believed, want a half over e", share(10, grid.CPU))
	}
}

// An estimate shuts a node out for no longer than a trial costs, and for twice as long when the trial ends as before; a
// record of attempts that it kept too long has its own back-off.
func TestOverrunCountsForATrial(t *testing.T) {
	var r Records
	now := grid.Time(1e9)
	const claimed, usual = 0.6, 1.0
	slow := func() { now = r.deliver(now, fastID, 8*time.Second) } // eight times the usual time
	expect := func(after time.Duration, want float64) {
		t.Helper()
		if x := r.Of(fastID).CompletionTime(now.Add(after), claimed, usual, 0); math.Abs(x-want) > 0.2 {
			t.Errorf("%v after the result %g s are expected, want %g", after, x, want)
		}
	}
	slow()
	expect(7*time.Second, 4)
	expect(9*time.Second, claimed)
	slow()
	expect(15*time.Second, 4)
	expect(17*time.Second, claimed)
	for range 8 {
		slow()
	}
	expect(5*time.Minute-time.Second, 2)
	expect(5*time.Minute+time.Second, claimed)
	if x := r.Of(fastID).CompletionTime(now.Add(time.Hour), 0, 8*usual, 0); x < 0.3*usual {
		t.Errorf("%g s are believed of a node that claims none", x)
	}
	now = r.deliver(now, fastID, time.Second)
	expect(time.Second, claimed)
	if r.Of(fastID).Proven() {
		t.Error("a result on time makes a node proven that was late nine times")
	}
	p := grid.Expectation{Made: now}
	r.Open(slowID).Given(now, &p, 0, 1)
	now = now.Add(time.Minute)
	r.Reclaimed(now, slowID)
	if !r.Of(slowID).BackingOff(now.Add(minBackoff)) {
		t.Error("a node that kept an attempt gets work before its back-off is over")
	}
}

// Once a class is known to take longer, what is outstanding of it is expected to, and is late only after that: a node
// is not late because its tasks are.
func TestOutstandingAttemptsAreRedated(t *testing.T) {
	var r Records
	var e grid.Expectation
	now := grid.Time(1e9)
	e.Made = now
	r.Given(now, &e, fastID, 0.2, 0.2)
	late := now.Add(5 * time.Second)
	if !r.Of(fastID).Late(late) {
		t.Fatal("it is not late after five seconds")
	}
	r.Redate(&e, fastID, 8)
	if r.Of(fastID).Late(late) || !r.Of(fastID).Late(now.Add(34*time.Second)) {
		t.Error("it is late before four times the eight seconds, or never")
	}
	r.Redate(&e, fastID, 1)
	if r.Of(fastID).Late(late) {
		t.Error("a class that takes less makes it late")
	}
	r.Returned(now.Add(8*time.Second), &e, fastID, true)
	if rec := r.Of(fastID); rec.onTime != 1 || rec.unreliable() || len(rec.due) != 0 {
		t.Errorf("after its result: %+v", rec)
	}
}

// One result that takes far longer than usual does not make a proven node unreliable; the next of the same kind do.
func TestOneLongResult(t *testing.T) {
	var r Records
	now := grid.Time(1e9)
	for range 10 {
		now = r.deliver(now, fastID, time.Second)
	}
	now = r.deliver(now, fastID, 40*time.Second)
	if r.Of(fastID).unreliable() {
		t.Error("it is unreliable after one result")
	}
	now = r.deliver(now, fastID, 40*time.Second)
	if r.deliver(now, fastID, 40*time.Second); !r.Of(fastID).unreliable() {
		t.Error("it is not unreliable after three")
	}
}

// The back-off after a loss doubles with the outages of a node beyond what it delivered, up to a bound.
func TestLossBackoff(t *testing.T) {
	var r Records
	id := grid.NodeID{1}
	if d := r.LossBackoff(0, id, time.Second); d != time.Second {
		t.Errorf("of a node without a record: %v", d)
	}
	rec := &Record{node: id}
	r.list = append(r.list, rec)
	for _, x := range []struct {
		good, bad float64
		want      time.Duration
	}{{0, 1, time.Second}, {5, 1, time.Second}, {0, 2, 2 * time.Second}, {3, 6, 4 * time.Second},
		{0, 100, 32 * time.Second}} {
		rec.outages = endTally{good: x.good, bad: x.bad}
		if d := r.LossBackoff(0, id, time.Second); d != x.want {
			t.Errorf("%v delivered, %v outages: %v, want %v", x.good, x.bad, d, x.want)
		}
	}
	rec.outages = endTally{bad: 8}
	if d := r.LossBackoff(grid.Time(10*time.Minute), id, time.Second); d != 2*time.Second {
		t.Errorf("ten minutes after 8 outages: %v, want 2s", d)
	}
}

// All that a node loses within two leases is one outage; a node that goes on losing what it gets has another one each
// two leases.
func TestLossesOfOneOutage(t *testing.T) {
	var r Records
	id, lease := grid.NodeID{1}, time.Second
	r.list = append(r.list, &Record{node: id})
	lose := func(at time.Duration) time.Duration {
		r.Lost(grid.Time(at), id, lease)
		return r.LossBackoff(grid.Time(at), id, lease)
	}
	for k := range 20 {
		if d := lose(lease + time.Duration(k)*lease/10); d != lease {
			t.Fatalf("after %d losses of one outage: %v, want %v", k+1, d, lease)
		}
	}
	if d := lose(3 * lease); d != 2*lease {
		t.Errorf("in the second outage: %v, want %v", d, 2*lease)
	}
	for at := 3 * lease; at < 20*lease; at += lease / 2 {
		lose(at)
	}
	if d := lose(20 * lease); d != lease<<maxLossDoublings {
		t.Errorf("of a node that loses all that it gets: %v, want %v", d, lease<<maxLossDoublings)
	}
}
