package sim

import (
	"cmp"
	"math"
	"slices"
	"time"

	"skep/grid"
)

// Aim is a fault that hits the node which does something, just after it has: uniform faults seldom come then.
type Aim struct {
	After Moment
	Skip  int           // so many such moments pass
	Kind  FaultKind     // Crash, Fill, Pause, CutOut or PutBack (the last commit is lost); Cut after a change of members
	For   time.Duration // after which it is repaired
	Until time.Duration // since the world began: it hits no more then
}

// Moment is something that a node does.
type Moment uint8

// Moments.
const (
	Committing   Moment = iota // a commit is begun
	Promised                   // a member has accepted a write, or voted
	Written                    // an owner has written an entry to a member
	TakenOver                  // a new owner is on its disk
	Accepted                   // a worker has accepted an attempt
	Started                    // an attempt was started
	Acknowledged               // a result was acknowledged
	Answered                   // a caller was answered
	moments
	// an owner has put a node in the place of a member: both are hit where the fault is a cut, and other cuts end
	Reseated = moments
)

var momentNames = [...]string{"a commit is begun", "a promise", "a write", "a takeover", "an accept", "a start",
	"an acknowledgement", "an answer", "a change of members"}

// String returns what the moment comes after.
func (m Moment) String() string { return momentNames[m] }

// aimAtAll has aims hit that wait for one of the effects of a node, which were released.
func (w *World) aimAtAll(i int32, fx *grid.Effects) {
	for k := range fx.Sends {
		m := &fx.Sends[k].Msg
		switch ok := m.Register.Answer == grid.RegisterOK; {
		case ok && (m.Kind == grid.KindWriteAck || m.Kind == grid.KindVote):
			w.aimAt(i, Promised)
		case m.Kind == grid.KindWrite && len(m.Register.Entries) > 0:
			w.aimAt(i, Written)
		case m.Kind == grid.KindAccept:
			w.aimAt(i, Accepted)
		case m.Kind == grid.KindResultAck:
			w.aimAt(i, Acknowledged)
		}
	}
	for k := range fx.Saves {
		if r := &fx.Saves[k]; r.Kind == grid.RecRegister && r.Register.Owner == w.hosts[i].id && r.Register.Epoch > 1 &&
			!r.Register.Done {
			w.aimAt(i, TakenOver)
		}
		if r := &fx.Saves[k]; r.Kind == grid.RecRegister && r.Register.Owner == w.hosts[i].id && !r.Delete {
			if m := r.Register.Set; m != nil && !m.Settled() && m.Epoch == r.Register.Epoch {
				w.aimAt(i, Reseated, w.index(m.Members[m.At]))
			}
		}
	}
	if len(fx.Starts) > 0 {
		w.aimAt(i, Started)
	}
	if len(fx.Replies) > 0 {
		w.aimAt(i, Answered)
	}
}

// aimAt has the first aim hit that waits for what a node has just done, with others. It comes with the next event.
func (w *World) aimAt(i int32, m Moment, with ...int32) {
	at := slices.IndexFunc(w.aims, func(a Aim) bool { return a.After == m && w.now <= grid.Time(a.Until) })
	if at < 0 {
		return
	}
	a := &w.aims[at]
	if a.Skip--; a.Skip >= 0 {
		return
	}
	now, nodes := time.Duration(w.now), []int{int(i)}
	f := Fault{At: now, Kind: a.Kind, Nodes: nodes}
	back := Fault{At: now + a.For, Kind: Restart, Nodes: nodes}
	switch a.Kind {
	case Pause:
		f.Factor = a.For.Seconds()
	case CutOut:
		back = Fault{At: now + a.For, Kind: Heal}
	case Cut:
		for _, k := range with {
			f.Nodes = append(f.Nodes, int(k))
		}
		w.addFault(Fault{At: now, Kind: Heal})
		back = Fault{At: now + a.For, Kind: Heal}
	}
	w.addFault(f)
	w.addFault(back)
	w.push(w.now, kindFault, 0, 0, 0)
	w.aims = slices.Delete(w.aims, at, at+1)
}

// addFault adds a fault that is not over to those to come.
func (w *World) addFault(f Fault) {
	at := w.nextFault
	for at < len(w.cfg.Faults) && w.cfg.Faults[at].At <= f.At {
		at++
	}
	w.cfg.Faults = slices.Insert(slices.Clip(w.cfg.Faults), at, f)
}

// addAims aims faults at moments in a quarter of the worlds.
func addAims(seed uint64, c *Config) {
	if r := grid.NewRand(seed, 96); r.IntN(4) == 0 {
		aimSome(r, c)
	}
}

func aimSome(r *grid.Rand, c *Config) {
	if c.Disk.Sync == 0 && r.IntN(2) == 0 {
		c.Disk.Sync = 5 * time.Millisecond // that there be a time within a commit
	}
	for range 1 + r.IntN(6) {
		a := Aim{After: Moment(r.IntN(int(moments))), Skip: r.IntN(12), Kind: Crash, Until: time.Minute,
			For: time.Duration(r.Int64N(int64(15 * time.Second)))}
		switch x := r.IntN(6); {
		case a.After == Committing && x < 4:
			a.Kind = Fill
		case x == 0:
			a.Kind = Pause
		case x == 1:
			a.Kind = CutOut
		}
		c.Aims = append(c.Aims, a)
	}
}

// addDamage damages disks and sets clocks in a quarter of the worlds.
func addDamage(seed uint64, c *Config) {
	if r := grid.NewRand(seed, 102); r.IntN(4) == 0 {
		damageSome(r, c)
	}
}

// damageSome has records rot, commits be lost that were acknowledged, and wall clocks be set. What is lost are those of
// up to three seconds, or in other worlds the last one, of which somebody has just seen what came of it.
func damageSome(r *grid.Rand, c *Config) {
	putBack := slices.ContainsFunc(c.Faults, func(f Fault) bool { return f.Kind == PutBack })
	last := r.IntN(4) == 0
	for range 1 + r.IntN(3) {
		at, nodes := time.Duration(r.Int64N(int64(50*time.Second))), []int{r.IntN(c.Nodes)}
		switch x := r.IntN(3); {
		case x == 0:
			c.Faults = append(c.Faults, Fault{At: at, Kind: Rot, Nodes: nodes, Factor: float64(1 + max(0, r.IntN(5)-2))})
		case x == 1:
			by := math.Pow(10, 5*r.Float64())
			if r.IntN(2) == 0 {
				by = -by
			}
			down := at + time.Duration(r.Int64N(int64(5*time.Second)))
			c.Faults = append(c.Faults, Fault{At: at, Kind: Step, Nodes: nodes, Factor: by},
				Fault{At: down, Kind: Crash, Nodes: nodes}, Fault{At: down + time.Second, Kind: Restart, Nodes: nodes})
		case c.Nodes < 3 || putBack: // a copy is one of both
		case !last:
			gone := at + time.Duration(r.Int64N(int64(3*time.Second)))
			c.Faults = append(c.Faults, Fault{At: at, Kind: Copy, Nodes: nodes}, Fault{At: gone, Kind: PutBack, Nodes: nodes})
		default:
			c.Disk.Sync = max(c.Disk.Sync, 5*time.Millisecond)
			c.Aims = append(c.Aims, Aim{After: Moment(r.IntN(int(moments))), Skip: r.IntN(12), Kind: PutBack,
				Until: time.Minute})
		}
	}
	slices.SortStableFunc(c.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}
