package sim

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// swarmOfReplacements is Swarm with members that are replaced in every world whose registers have some.
func swarmOfReplacements(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmReplacements/faults -sim.seed %d", seed)
	if c.Nodes > 3 {
		replaceSome(grid.NewRand(seed, 99), &c)
	}
	return c
}

// How long a member that died for good is one still, at most, of a job that goes on: until its owner, if it was that,
// is succeeded, and has led for ReplaceAfter, or the restarts of others are over; until a node has the record.
const replacedWithin = time.Minute

// swarmOfDeaths is a world in which all nodes but one of the first die for good, one after the other and each after the
// one before it was replaced, and as many join in between.
func swarmOfDeaths(seed uint64) Config {
	r, c := grid.NewRand(seed, 100), swarmBase(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmReplacements/deaths -sim.seed %d", seed)
	n := 5 + r.IntN(5)
	after, members, other := 18*time.Second+time.Duration(r.IntN(13))*time.Second, 3, c.Node
	if n > 6 && r.IntN(3) == 0 {
		members = 5
	}
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		n.ReplaceAfter, n.Members, n.Bounds = after, members, nil
		if n.Policy == "local" { // its tasks may run nowhere else
			n.Policy = "lpas_dec"
		}
	}
	c.Machine.Rate = func(class string, i int) float64 {
		return 0.01 + float64(splitmix(seed^uint64(class[0])<<32^uint64(i))>>8%100)/3000
	}
	c.Network.Loss /= 5 // where more is lost, owners that live are succeeded often, and each has to see who is dead
	gap, stay := after+replacedWithin, r.IntN(n)
	c.Nodes, c.Faults, c.Bound, c.Rest = 2*n-1, nil, 40*time.Minute, 90*time.Second
	there := func(at time.Duration) (nodes []int) { // that are up, and stay so for a while
		for i := range c.Nodes {
			joined, died := time.Duration(0), time.Duration(1<<62)
			for _, f := range c.Faults {
				if f.Kind == Join && f.Nodes[0] == i {
					joined = f.At
				} else if f.Kind == Lose && f.Nodes[0] == i {
					died = f.At
				}
			}
			if i < n || joined > 0 && joined < at {
				if died > at {
					nodes = append(nodes, i)
				}
			}
		}
		return nodes
	}
	at := 20 * time.Second
	for k, i := range slices.DeleteFunc(r.Perm(n), func(i int) bool { return i == stay }) {
		join := at + time.Duration(r.Int64N(int64(gap)))
		c.Faults = append(c.Faults, Fault{At: at, Kind: Lose, Nodes: []int{i}},
			Fault{At: join, Kind: Join, Nodes: []int{n + k}})
		at += gap
	}
	for _, f := range c.lost() {
		if nodes := there(f.At + 20*time.Second); r.IntN(2) == 0 { // another one is restarted meanwhile
			down := f.At + time.Duration(r.Int64N(int64(10*time.Second)))
			x := Fault{At: down, Kind: Crash, Nodes: []int{nodes[r.IntN(len(nodes))]}}
			c.Faults = append(c.Faults, x, Fault{At: down + time.Duration(r.Int64N(int64(5*time.Second))), Kind: Restart,
				Nodes: x.Nodes})
		}
	}
	slices.SortStableFunc(c.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	work := c.Work
	c.Work = nil
	for t := 5 * time.Second; t < at; t += time.Duration(5+r.IntN(40)) * time.Second {
		s := work[r.IntN(len(work))]
		nodes := there(t)
		s.At, s.Node, s.Cancel = t, nodes[r.IntN(len(nodes))], 0
		c.Work = append(c.Work, s)
	}
	return c
}

// swarmOfContests is a world in which a node that others see dead is replaced and comes back at that moment, while the
// owner that replaced it is cut off with the newcomer: either side may have a majority as it knows the members.
func swarmOfContests(seed uint64) Config {
	r, c := grid.NewRand(seed, 102), swarmBase(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmReplacements/contests -sim.seed %d", seed)
	other, n := c.Node, 4+r.IntN(3)
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		n.ReplaceAfter, n.Members, n.Bounds = time.Second, 3, nil
		if n.Policy == "local" {
			n.Policy = "lpas_dec"
		}
	}
	c.Machine.Rate = func(class string, i int) float64 { return 0.02 + float64(splitmix(seed^uint64(i))>>8%100)/3000 }
	c.Network.Loss /= 5
	for k := range c.Work {
		s := &c.Work[k]
		s.At, s.Node, s.Cancel = 5*time.Second+s.At/4, s.Node%n, 0
	}
	c.Nodes, c.Faults, c.Rest = n, nil, 90*time.Second
	for at, k := 10*time.Second, 0; k < 4; k++ {
		c.Faults = append(c.Faults, Fault{At: at, Kind: Cut, Nodes: []int{r.IntN(n)}})
		at += 50*time.Second + time.Duration(r.Int64N(int64(20*time.Second)))
		c.Faults = append(c.Faults, Fault{At: at, Kind: Heal})
		c.Aims = append(c.Aims, Aim{After: Reseated, Skip: r.IntN(3), Kind: Cut, Until: 5 * time.Minute,
			For: 10*time.Second + time.Duration(r.Int64N(int64(20*time.Second)))})
	}
	return c
}

// signEven has half of the jobs be signed in the worlds of even seeds: then the members sign each change, too.
func signEven(seed uint64, c Config) Config {
	if seed%2 == 0 {
		signSome(grid.NewRand(seed, 103), &c)
	}
	return c
}

// Where nodes die for good one after the other, further apart than the time after which they are replaced, and new ones
// join, no job waits for one of them and each acknowledged one ends; and nothing is lost or done twice where that comes
// with all other faults.
func TestSwarmReplacements(t *testing.T) {
	worlds := (*swarmFlag + 14) / 15
	seeds := func(first uint64) (all []uint64) {
		if *seedFlag != 0 {
			return []uint64{*seedFlag}
		}
		for k := range worlds {
			all = append(all, first+uint64(k))
		}
		return all
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	replaced, tasks, proved := 0, 0, 0
	t.Run("deaths", func(t *testing.T) {
		for _, seed := range seeds(99000001) {
			c := signEven(seed, swarmOfDeaths(seed))
			c.Log = log
			r, err := runDeaths(c)
			if err != nil {
				t.Error(err)
			}
			replaced, tasks, proved = replaced+r.Replaced, tasks+r.Ended, proved+r.Verified
		}
	})
	t.Run("faults", func(t *testing.T) {
		for _, seed := range seeds(100000001) {
			c := signEven(seed, swarmOfReplacements(seed))
			c.Log = log
			r, err := runToEnd(c)
			if err != nil {
				t.Error(err)
			}
			replaced, tasks, proved = replaced+r.Replaced, tasks+r.Ended, proved+r.Verified
		}
	})
	t.Run("contests", func(t *testing.T) {
		for _, seed := range seeds(101000001) {
			c := signEven(seed, swarmOfContests(seed))
			c.Log = log
			r, err := runToEnd(c)
			if err != nil {
				t.Error(err)
			}
			replaced, tasks, proved = replaced+r.Replaced, tasks+r.Ended, proved+r.Verified
		}
	})
	t.Logf("%d members were replaced in 3 x %d worlds; %d tasks ended, %d ends proved", replaced, worlds, tasks, proved)
	if worlds >= 20 && (replaced < 10*worlds || proved < 10*worlds) {
		t.Errorf("%d members were replaced in %d worlds, and %d ends proved: want more", replaced, worlds, proved)
	}
}

// runDeaths runs such a world to its end, and checks after each death that what goes on counts no more on who died.
func runDeaths(c Config) (Report, error) {
	w, err := New(c)
	if err != nil {
		return Report{}, err
	}
	for _, f := range c.lost() {
		if _, err := w.Advance(f.At + w.cfg.replaceAfter() + replacedWithin - time.Millisecond); err != nil {
			return w.Report(), err
		}
		if w.books.CheckReplaced(int32(f.Nodes[0])); w.err() != nil {
			return w.Report(), w.err()
		}
	}
	r, err := w.Run()
	if err != nil {
		return r, err
	}
	for k, s := range c.Work {
		for i := range s.Spec.Count {
			if j := w.books.Job(k); j.Confirmed && len(j.Members) > 1 && w.Outcome(k, int(i)).State != grid.Ended {
				w.failf(-1, "task %d of submission %d from n%d at %v, which was acknowledged, has not ended", i, k, s.Node, s.At)
			}
		}
	}
	return r, w.err()
}

// replaceAfter is the time after which members of the world's nodes are replaced.
func (c *Config) replaceAfter() time.Duration {
	var n node.Config
	c.Node(0, &n)
	return n.ReplaceAfter
}

// lost lists the nodes of a world that died for good and when, in order.
func (c *Config) lost() (faults []Fault) {
	for _, f := range c.Faults {
		if f.Kind == Lose {
			faults = append(faults, f)
		}
	}
	return faults
}
