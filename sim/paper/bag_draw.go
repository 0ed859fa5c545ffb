package paper

import (
	"fmt"
	"slices"
	"time"

	"skep/grid"
	"skep/node"
	"skep/sim/net"
)

// streamBags is that of a bag's chance.
const streamBags = 0x62616773

// begin is when the first task may come: the nodes know each other then.
const begin = 10 * time.Second

// draws is what chance gave a bag.
type draws struct {
	e    [][]float64 // execution times by kind and machine, seconds
	kind []int       // of each task, in the order in which they come
	tau  []float64   // c·τ_i, seconds: what a kind takes where u is 1
	u    []float64   // by machine, of a matrix that is related
	at   []time.Duration
}

// chance draws kinds, times and arrivals. Each kind has as many tasks as the others, or one less.
func (b *bag) chance(seed uint64) *draws {
	r := grid.NewRand(seed, streamBags)
	from := func(most float64) float64 { return 1 + (most-1)*r.Float64() }
	d := &draws{}
	for range b.Machines {
		d.u = append(d.u, from(b.Times.Machines))
	}
	for i := range b.Kinds {
		tau := from(b.Times.Tasks)
		if i == 0 && b.Long > 0 {
			tau = b.Long * b.Times.Tasks
		}
		d.tau, d.e = append(d.tau, tau), append(d.e, nil)
		for j := range b.Machines {
			u := d.u[j]
			if b.Matrix != related {
				u = from(b.Times.Machines)
			}
			d.e[i] = append(d.e[i], tau*u)
		}
		if b.Matrix == consistent {
			slices.Sort(d.e[i])
		}
	}
	least := 0.0
	for k := range b.Tasks {
		d.kind = append(d.kind, k%b.Kinds)
		least += slices.Min(d.e[k%b.Kinds])
	}
	r.Shuffle(len(d.kind), func(x, y int) { d.kind[x], d.kind[y] = d.kind[y], d.kind[x] })
	c := b.Busy.Seconds() * float64(b.Machines) / least
	for i := range d.e {
		d.tau[i] *= c
		for j := range d.e[i] {
			d.e[i][j] *= c
		}
	}
	at := begin.Seconds()
	for range b.Tasks {
		d.at = append(d.at, grid.Seconds(at))
		at += r.ExpFloat64() * b.Arrive * b.Busy.Seconds() / float64(b.Tasks)
	}
	return d
}

// draw makes a world of a bag. The nodes are told the rates, all are asked for each decision, and no idle one asks for
// work, so that nobody places but the policy.
func (b *bag) draw(policy string, seed uint64) (*net.Scenario, error) {
	c := node.Defaults()
	c.Policy, c.Members, c.Pull, c.MappingInterval = policy, 1, false, 5*time.Second
	c.Order.Rule = "fifo" // the studies know no bids
	c.Balance.PollMax, c.Balance.Explore, c.Balance.NearTie, c.Balance.Resolve = 0, 0, 0, 0
	c.Balance.Bandwidth = float64(b.Link)
	s := &net.Scenario{Name: "bag", Seed: seed, Replications: 1, Start: begin, Node: c, Given: true, Files: b.Link,
		Omitted: net.Omitted{NoDigest: true},
		Groups:  []net.Group{{Name: "owner", Count: 1, Cores: 1, Memory: grid.GiB, Speed: 1}}}
	s.Network.World.Mesh = true
	s.Network.Latency = net.Span{Kind: net.Constant, A: time.Millisecond}
	for j := range b.Machines {
		s.Groups = append(s.Groups, net.Group{Name: fmt.Sprint("m", j), Count: 1, Cores: 1, Memory: grid.GiB, Speed: 1,
			Rates: map[string]float64{}, Labels: []grid.Label{{Key: "role", Value: "machine"}}})
	}
	d := b.chance(seed)
	s.Time = d.at[len(d.at)-1] + 100*b.Busy // the run ends with the last task
	if !slices.Contains(knowledgeFree, policy) {
		b.kinds(s, d)
		return s, nil
	}
	if b.Matrix != related || b.Arrive > 0 {
		return nil, errOneJob
	}
	b.oneJob(s, d)
	return s, nil
}

// class appends a class that the machines alone run, in so many seconds.
func (b *bag) class(s *net.Scenario, name string, e func(j int) float64) *net.Class {
	s.Classes = append(s.Classes, net.Class{Name: name, Retries: 1000, Inputs: b.Inputs, Size: b.wrong(),
		Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU},
			Labels: []grid.LabelNeed{{Key: "role", Values: []string{"machine"}}}}})
	for j := range b.Machines {
		s.Groups[j+1].Rates[name] = 1 / e(j)
	}
	return &s.Classes[len(s.Classes)-1]
}

// wrong draws sizes that are not as told; nil = they are.
func (b *bag) wrong() func(*grid.Rand) float64 {
	if b.Error == 0 {
		return nil
	}
	return func(r *grid.Rand) float64 { return 1 - b.Error + 2*b.Error*r.Float64() }
}

// kinds has a class for each kind, and tasks that come one by one, or kind by kind all at once.
func (b *bag) kinds(s *net.Scenario, d *draws) {
	tasks := map[int]uint32{}
	for i := range b.Kinds {
		b.class(s, fmt.Sprint("kind", i), func(j int) float64 { return d.e[i][j] })
	}
	stream := func(kind int, tasks uint32, at time.Duration) {
		s.Streams = append(s.Streams, net.Stream{Class: fmt.Sprint("kind", kind), Tasks: tasks, From: []string{"owner"},
			Once: at})
	}
	for k, i := range d.kind {
		if b.Arrive > 0 {
			stream(i, 1, d.at[k])
		}
		tasks[i]++
	}
	if b.Arrive > 0 {
		return
	}
	for _, i := range slices.Compact(slices.Sorted(slices.Values(d.kind))) {
		stream(i, tasks[i], begin)
	}
}

// oneJob has one class, of which each task has the size of a kind that chance names.
func (b *bag) oneJob(s *net.Scenario, d *draws) {
	mean, wrong := average(d.tau), b.wrong()
	c := b.class(s, "bag", func(j int) float64 { return mean * d.u[j] })
	c.Idempotent = true
	c.Size = func(r *grid.Rand) float64 {
		size := d.tau[r.IntN(len(d.tau))] / mean
		if wrong != nil {
			size *= wrong(r)
		}
		return size
	}
	s.Streams = []net.Stream{{Class: "bag", Tasks: uint32(b.Tasks), From: []string{"owner"}, Once: begin}}
}
