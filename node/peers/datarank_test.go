package peers

import (
	"testing"
	"time"

	"skep/balance"
	"skep/grid"
)

// A node that has an input needs no time for it; one to which transfers were slow needs long, and one that was never
// measured as long as is assumed. While a node fetches an input, further tasks wait there for the rest of it only.
func TestTimeToFetchInputs(t *testing.T) {
	p := Peers{cfg: Config{Self: grid.NodeID{9}, Balance: &balance.Config{Bandwidth: 10e6}}}
	slow, other, now := grid.NodeID{1}, grid.NodeID{2}, grid.Time(time.Hour)
	job := inputs(100e6)
	p.Transferred(now, &grid.Event{Peer: slow, Observed: grid.Observed{Transfer: grid.Transfer{Bytes: 20e6,
		Took: 10 * time.Second}}})
	expect := func(at grid.Time, id grid.NodeID, want float64) {
		t.Helper()
		if got := p.fetchTime(at, id, job); got != want {
			t.Errorf("node %d at %v: %v s, want %v", id[0], time.Duration(at-now), got, want)
		}
	}
	expect(now, slow, 50)
	expect(now, other, 10)
	expect(now, p.cfg.Self, 0)
	p.Fetches(now, other, job)
	p.Fetches(now.Add(3*time.Second), other, job) // a further task changes nothing about it
	expect(now.Add(4*time.Second), other, 6)
	expect(now.Add(20*time.Second), other, 0)
	if lacks := p.Lacks(other, job.Inputs); lacks != 100e6 {
		t.Errorf("it lacks %v bytes until it has delivered, want all", lacks)
	}
	p.StopsFetching(other, job) // it has refused
	expect(now.Add(20*time.Second), other, 10)
	p.Fetches(now, other, job)
	p.HasInputs(other, job)
	p.StopsFetching(other, job) // what it has, it keeps
	expect(now, other, 0)
	if lacks := p.Lacks(other, job.Inputs); lacks != 0 {
		t.Errorf("it has delivered, and lacks %v bytes", lacks)
	}
	p.cfg.Balance = &balance.Config{}
	expect(now, slow, 0)
}
