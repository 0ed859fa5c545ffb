package node

import (
	"fmt"
	"slices"
	"time"

	"skep/grid"
	"skep/register"
)

const (
	askAgain  = 500 * time.Millisecond // who has not answered by then may be replaced by somebody else
	settleFor = 3 * time.Second        // after a start, in which nodes known from before are connected again
)

// guarding are the kinds that a member of a register must understand.
const guarding = grid.KindSet(1<<grid.KindGuard | 1<<grid.KindPromise | 1<<grid.KindWatch | 1<<grid.KindCopy)

// establish takes a checked submission on: at once if this node alone keeps it, else as soon as its members are chosen.
func (n *Node) establish(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	if f := n.forming.by.get(ev.Job); f != nil {
		f.callers = append(f.callers, ev.Caller)
		return
	}
	f := &forming{id: ev.Job, spec: ev.Spec, callers: []uint64{ev.Caller}, since: now}
	if n.cfg.Members > 1 {
		n.forming.add(f)
		n.form(now, nil, true, fx)
		return
	}
	n.alone(now, f, fx)
}

// form chooses members for those of some submissions for which enough nodes have answered, for those for which whoever answers will do, because
// they have waited for long or nobody was asked for them; and asks more nodes where that did not take them all.
func (n *Node) form(now grid.Time, some []*forming, ask bool, fx *grid.Effects) {
	for k := range n.forming.lines {
		if line := &n.forming.lines[k]; len(line.list) > 0 {
			n.formLine(now, line, some, ask, fx)
		}
	}
}

func (n *Node) formLine(now grid.Time, line *formingLine, some []*forming, ask bool, fx *grid.Effects) {
	up := n.eligible(line == &n.forming.lines[1])
	alive := n.alive(now, up)
	for _, f := range line.list { // oldest first: to those after one that still waits nothing has happened
		if !f.over && (now < f.since.Add(askAgain) || !n.formed(now, f, up, alive, fx)) {
			break
		}
	}
	for _, f := range some {
		if !f.over && n.forming.line(f) == line {
			n.formed(now, f, up, alive, fx)
		}
	}
	for len(line.unasked) > 0 && (line.unasked[0].over || n.formed(now, line.unasked[0], up, alive, fx)) {
		line.unasked[0], line.unasked = nil, line.unasked[1:] // what does not suffice for the oldest does not for the others
	}
	if line.trim(); len(line.list) > 0 && ask {
		n.canvass(now, line, up, fx)
	}
}

// formed chooses the members of a submission if enough nodes have answered, and reports whether that is over. Fewer members than are wanted
// are taken only where too few nodes are connected.
func (n *Node) formed(now grid.Time, f *forming, up, alive []*grid.Ad, fx *grid.Effects) bool {
	if len(up)+1 < n.cfg.Members && n.expects(now, f.since, len(up)) {
		return false
	}
	late, there := now >= f.since.Add(n.cfg.Confirm), len(alive)
	alive = n.withRoom(alive, f)
	want := min(n.cfg.Members, len(up)|1)
	if now < f.since.Add(askAgain) && len(f.first) > 0 {
		alive = slices.DeleteFunc(slices.Clone(alive), func(ad *grid.Ad) bool { return !slices.Contains(f.first, ad.Node) })
	}
	switch {
	case want < 3:
		n.alone(now, f, fx)
	case len(alive) >= want-1:
		n.keepWith(now, f, n.apart(alive, want-1), fx)
	case late && len(alive) >= 2:
		n.keepWith(now, f, n.apart(alive, 2), fx)
	case late:
		for _, c := range f.callers {
			fx.Reply(c, f.id, fmt.Sprintf("job %s: was not taken: of the %d nodes connected to this one no two have said within %v that they will keep its record; "+
				"submit it again, perhaps to another node%s", f.id.Short(), len(up), n.cfg.Confirm, crowded(there-len(alive))))
		}
	default:
		return false
	}
	n.forming.remove(f)
	return true
}

// canvass asks some nodes whether they live.
func (n *Node) canvass(now grid.Time, line *formingLine, up []*grid.Ad, fx *grid.Effects) {
	asked := n.apart(up, n.cfg.Members+1)
	for _, id := range asked {
		if p := n.pair(id); p.seq == 0 || now >= p.sent.Add(askAgain) {
			n.sendWatch(now, p, n.shared(id), fx)
		}
	}
	if len(asked) > 0 {
		for _, f := range line.unasked { // oldest first, as they are awaited
			if f.over {
				continue
			}
			f.first = asked
			for _, id := range asked {
				n.pair(id).await(f)
			}
		}
		line.unasked = nil
	}
	if !n.formWake {
		n.formWake = true
		fx.Wake(now.Add(askAgain/2), grid.TimerGuard, formKey)
	}
}

// present notes that a node has answered a watch. What waits for that was last looked at when it had been silent for long, or never.
func (n *Node) present(now grid.Time, p *pair, fx *grid.Effects) {
	var some []*forming
	if !n.lately(now, p) {
		some, p.awaits = p.awaits, nil
	}
	p.alive = now
	n.form(now, some, false, fx)
	for _, f := range some {
		if !f.over && now < f.since.Add(askAgain) {
			p.await(f)
		}
	}
}

// lately reports whether a node has answered a watch just now.
func (n *Node) lately(now grid.Time, p *pair) bool {
	return p.alive > 0 && now < p.alive.Add(n.cfg.Lease/3)
}

// expects reports whether more nodes are about to be connected: this one has just started and knew more, or somebody has
// not yet said what it is.
func (n *Node) expects(now, since grid.Time, up int) bool {
	if n.cfg.Known > up && n.cfg.Known >= 2 && now < n.began.Add(settleFor) {
		return true
	}
	return now < since.Add(2*askAgain) && n.strangers()
}

// alive lists those that have just answered.
func (n *Node) alive(now grid.Time, up []*grid.Ad) (alive []*grid.Ad) {
	for _, ad := range up {
		if p := n.pairs.by.get(ad.Node); p != nil && n.lately(now, p) {
			alive = append(alive, ad)
		}
	}
	return alive
}

// eligible lists the connected nodes that can be members, of a job that only its owner may see those that keep to that.
func (n *Node) eligible(owner bool) (ads []*grid.Ad) {
	for _, p := range n.connected() {
		g := n.gossip.Peer(p.id)
		if g == nil || g.Ad == nil || g.Ad.Shut() || !p.keeps || owner && !p.discreet {
			continue
		}
		ads = append(ads, g.Ad)
	}
	return ads
}

// apart chooses some of them, in the order in which they are wanted: those first that share least with the ones
// before, by the labels that say where a machine stands; the rest is chance.
func (n *Node) apart(ads []*grid.Ad, most int) (ids []grid.NodeID) {
	ads = slices.Clone(ads)
	n.rng.Shuffle(len(ads), func(a, b int) { ads[a], ads[b] = ads[b], ads[a] })
	taken := []*grid.Ad{n.gossip.Ad()}
	for len(ads) > 0 && len(ids) < most {
		best, least := 0, 1<<30
		for k, ad := range ads {
			same := 0
			for _, t := range taken {
				same += together(ad, t)
			}
			if same < least {
				best, least = k, same
			}
		}
		ids, taken = append(ids, ads[best].Node), append(taken, ads[best])
		ads = slices.Delete(ads, best, best+1)
	}
	return ids
}

// together counts the places that two nodes share, as far as their labels say.
func together(a, b *grid.Ad) (n int) {
	for _, key := range [...]string{"host", "rack", "zone"} {
		x, ok := a.Label(key)
		if y, _ := b.Label(key); ok && x == y {
			n++
		}
	}
	return n
}

// alone takes a submission on that this node alone keeps.
func (n *Node) alone(now grid.Time, f *forming, fx *grid.Effects) {
	j := n.newJob(f.id, f.spec, n.wall.At(now).UnixNano())
	n.begin(now, j, fx)
	n.saveJob(j, fx)
	n.reply(&f.callers, j.id, fx)
	n.changed(now, fx)
}

// keepWith makes the register of a submission. Its caller is answered when a majority holds it.
func (n *Node) keepWith(now grid.Time, f *forming, others []grid.NodeID, fx *grid.Effects) {
	members := append([]grid.NodeID{n.cfg.Self}, others...)
	j := n.newGuard(f.id, f.spec, n.wall.At(now).UnixNano(), members, register.State{})
	j.guard.callers, j.guard.until, j.guard.forming, j.guard.sure = f.callers, f.since.Add(n.cfg.Confirm), true, true
	n.leads++
	j.guard.reg.Lead(n.cfg.Boot<<40 | n.leads<<20)
	s := j.guard.reg.State()
	j.guard.boss, j.guard.epoch, j.guard.since = s.Owner, s.Epoch, j.submitted
	n.begin(now, j, fx)
	n.share(now, j)
	n.saveGuard(j, fx)
	n.unsaid(j)
	n.tickIn(now, fx)
	n.changed(now, fx)
}

// begin lets a new job's tasks be placed.
func (n *Node) begin(now grid.Time, j *job, fx *grid.Effects) {
	j.arrived = now
	n.lineUp(j)
	n.rates.arrive(now, j.spec, j.class, int(j.spec.Count))
}
