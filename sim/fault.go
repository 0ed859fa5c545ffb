package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"skep/grid"
)

// Fault is a change for the worse, or its repair.
type Fault struct {
	At     time.Duration // since the world began
	Kind   FaultKind
	Nodes  []int
	Factor float64 // of Slow, Share, Full and Rot; of Drift in millionths; of Drain, Pause, Stall and Step in seconds
}

// FaultKind is the kind of a fault.
type FaultKind uint8

// Faults. One that does not apply, such as the crash of a node that is down, has no effect.
const (
	Crash   FaultKind = iota + 1 // Nodes stop between two steps; their running tasks die
	Leave                        // Nodes are told to leave, and stop a second later
	Restart                      // Nodes start again with the records on their disks
	Cut                          // no message passes between Nodes and the others
	CutOut                       // no message passes from Nodes to the others
	CutIn                        // no message passes from the others to Nodes
	Heal                         // all cuts end
	Slow                         // Nodes compute, write and send Factor times slower; 1 = normal
	Drift                        // clocks of Nodes run faster by Factor millionths, or slower if negative; 0 = correct
	Lose                         // Nodes stop as in a crash and never start again
	Drain                        // Nodes accept nothing new, give running tasks Factor seconds to end, and leave then
	Share                        // other users of Nodes leave Factor of the cores, a fraction of 1
	// Nodes handle no event for Factor seconds, then all of them at once; running tasks continue
	Pause
	Stall // disks of Nodes write nothing for Factor seconds
	Full  // disks of Nodes are nearly full; Factor 0 = no longer
	Copy  // the stores of Nodes are copied
	// Nodes stop as in a crash and start again with the copies of their stores; without effect where there is none
	PutBack
	// the commit that disks of Nodes write fails for want of room, and the nodes stop as their drivers stop them; without
	// effect where none is written
	Fill
	Step // wall clocks of Nodes are set, Factor seconds later; a run that has begun does not notice
	// Nodes stop as in a crash; Factor bits of a record on their disks flip, and they start again unless that is refused
	Rot
	Join // Nodes, which are not there before, start for the first time
)

var faultNames = [...]string{"", "crash", "leave", "restart", "cut", "cut out", "cut in", "heal", "slow", "drift",
	"lose", "drain", "share", "pause", "stall", "full", "copy",
	"put back", "fill", "step", "rot", "join"}

// String returns the fault's name.
func (k FaultKind) String() string {
	if int(k) < len(faultNames) {
		return faultNames[k]
	}
	return "unknown"
}

// String says when what happens to whom.
func (f *Fault) String() string {
	s := fmt.Sprintf("%v %v", f.At, f.Kind)
	if len(f.Nodes) > 0 {
		s += fmt.Sprintf(" n%v", f.Nodes)
	}
	if f.Factor != 0 {
		s += fmt.Sprintf(" %.6g", f.Factor)
	}
	return s
}

func (f *Fault) check(nodes int) error {
	if f.Kind < Crash || f.Kind > Join {
		return fmt.Errorf("kind %d: want 1 to %d", f.Kind, Join)
	}
	for _, i := range f.Nodes {
		if i < 0 || i >= nodes {
			return fmt.Errorf("%v of node %d: want 0 to %d", f.Kind, i, nodes-1)
		}
	}
	if f.Kind == Slow && !(f.Factor >= 1 && f.Factor <= 1e6) {
		return fmt.Errorf("slow by %g: want a factor of 1 to 1e6", f.Factor)
	}
	if f.Kind == Drift && !(f.Factor >= -100_000 && f.Factor <= 100_000) {
		return fmt.Errorf("drift by %g millionths: want -100000 to 100000", f.Factor)
	}
	if f.Kind == Share && !(f.Factor > 0 && f.Factor <= 1) {
		return fmt.Errorf("share of %g: want a part of the cores, more than 0, up to 1", f.Factor)
	}
	if f.Kind == Rot && !(f.Factor >= 1 && f.Factor <= 64) {
		return fmt.Errorf("rot of %g bits: want 1 to 64", f.Factor)
	}
	if (f.Kind == Drain || f.Kind == Pause || f.Kind == Stall) && !(f.Factor >= 0 && f.Factor <= 1e6) {
		return fmt.Errorf("%v for %g s: want 0 to 1e6", f.Kind, f.Factor)
	}
	return nil
}

// applyNextFault applies the faults that are due.
func (w *World) applyNextFault() {
	faults := w.cfg.Faults
	for w.nextFault < len(faults) && grid.Time(faults[w.nextFault].At) <= w.now && w.fail == nil {
		w.applyFault(&faults[w.nextFault])
		w.nextFault++
	}
	if w.nextFault < len(faults) {
		w.push(grid.Time(faults[w.nextFault].At), kindFault, 0, 0, 0)
	}
}

func (w *World) applyFault(f *Fault) {
	if w.cfg.Log != nil {
		w.cfg.Log(fmt.Sprintf("%-14v %v %v", time.Duration(w.now), f.Kind, f.Nodes))
	}
	switch f.Kind {
	case Cut, CutOut, CutIn:
		c := cut{inside: make([]bool, len(w.hosts)), out: f.Kind != CutIn, in: f.Kind != CutOut}
		for _, i := range f.Nodes {
			c.inside[i] = true
		}
		w.addCut(c)
		for _, i := range f.Nodes {
			w.books.Hindsight().CutOff(w.now, int32(i))
		}
	case Heal:
		w.cuts = w.cuts[:0]
		w.books.Hindsight().Healed(w.now)
	}
	for _, n := range f.Nodes {
		i := int32(n)
		switch f.Kind {
		case Crash:
			w.crash(i)
		case Lose:
			w.crash(i)
			w.hosts[i].lost = true
			w.books.Lost(i)
		case Leave:
			w.leave(i)
		case Drain:
			w.drain(i, grid.Seconds(f.Factor))
		case Restart:
			if w.hosts[i].boots > 0 || !w.cfg.joinsLater(n) {
				w.start(i)
			}
		case Join:
			w.join(i)
		case Pause:
			w.pause(i, grid.Seconds(f.Factor))
		case Stall:
			w.hosts[i].stalledUntil = w.now.Add(grid.Seconds(f.Factor))
		case Full:
			w.setDiskFull(i, f.Factor != 0)
		case Copy:
			if w.stores != nil {
				w.stores.Copy(i, w.books.Records(i, nil))
			}
		case Fill:
			w.failCommit(i)
		case PutBack:
			w.putBack(i)
		case Step:
			w.stepWall(i, grid.Seconds(f.Factor))
		case Rot:
			w.rot(i, int(f.Factor))
		case Slow:
			w.hosts[i].slow = f.Factor
			w.setRankSpeed(i)
			w.books.Hindsight().Slowed(w.now, i, f.Factor)
		case Share:
			w.setShare(i, f.Factor)
		case Drift:
			w.setDrift(i, int64(f.Factor))
		}
	}
}

// leave tells a node that it is about to stop. Its driver lets the commit end and the farewell out.
func (w *World) leave(i int32) {
	if !w.hosts[i].up {
		return
	}
	w.leaving++
	w.books.Hindsight().Closed(w.now, i)
	w.ev = grid.Event{Kind: grid.EvLeave}
	w.step(i, &w.ev)
	w.push(w.now.Add(time.Second), kindLeft, i, 0, 0)
}

// drain tells a node to accept nothing new. It leaves when running tasks have had their time and their results could
// be sent.
func (w *World) drain(i int32, within time.Duration) {
	if !w.hosts[i].up {
		return
	}
	w.leaving++
	w.books.Hindsight().Closed(w.now, i)
	w.ev = grid.Event{Kind: grid.EvDrain, Within: within}
	w.step(i, &w.ev)
	w.push(w.now.Add(within+drainEnd), kindDrained, i, 0, 0)
}

// drainEnd is how long a drained node stays, so that what it reported is acknowledged.
const drainEnd = 500 * time.Millisecond

// DrawFaults draws a number of faults before a time, at which all nodes are up, connected and at normal speed again.
func DrawFaults(r *grid.Rand, nodes, number int, within time.Duration) []Fault {
	var faults []Fault
	some := func(most int) []int { return r.Perm(nodes)[:1+r.IntN(max(most, 1))] }
	when := func(from time.Duration) time.Duration { return from + time.Duration(r.Int64N(int64(within-from)+1)) }
	for range number {
		at := when(0)
		switch r.IntN(7) {
		case 0, 1:
			f := Fault{At: at, Kind: Crash, Nodes: some(nodes / 2)}
			faults = append(faults, f, Fault{At: when(at), Kind: Restart, Nodes: f.Nodes})
		case 2:
			f := Fault{At: at, Kind: Leave, Nodes: some(1)}
			if f.Nodes[0]%2 == 0 {
				f.Kind, f.Factor = Drain, min(at%(5*time.Second), within-at).Seconds()
			}
			faults = append(faults, f, Fault{At: when(at), Kind: Restart, Nodes: f.Nodes})
		case 3:
			faults = append(faults, Fault{At: at, Kind: Cut, Nodes: some(nodes / 2)}, Fault{At: when(at), Kind: Heal})
		case 4:
			faults = append(faults, Fault{At: at, Kind: CutOut + FaultKind(r.IntN(2)), Nodes: some(2)},
				Fault{At: when(at), Kind: Heal})
		case 5:
			f := Fault{At: at, Kind: Slow, Nodes: some(2), Factor: 1 + 10*r.Float64()}
			faults = append(faults, f, Fault{At: when(at), Kind: Slow, Nodes: f.Nodes, Factor: 1})
		case 6:
			faults = append(faults, Fault{At: at, Kind: Drift, Nodes: some(2), Factor: float64(r.IntN(20_001) - 10_000)})
		}
	}
	all := make([]int, nodes)
	for i := range all {
		all[i] = i
	}
	end := within + 2*time.Second // nodes that left last have stopped
	faults = append(faults, Fault{At: end, Kind: Heal}, Fault{At: end, Kind: Restart, Nodes: all},
		Fault{At: end, Kind: Slow, Nodes: all, Factor: 1})
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return faults
}
