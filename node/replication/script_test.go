package replication

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/internal/golden"
)

// The scripts of testdata describe a register between its members. Commands:
//
//	start NODE...            the nodes that may be members; the first is the origin
//	create JOB TASKS NODE... a job with these members, owned by the first
//	decide NODE JOB TASK N   the owner decides that a task ended with exit code N; TASK cancel: that the job is cancelled
//	close NODE JOB           the owner closes the job
//	campaign NODE JOB        a member campaigns, whatever it knows of the owner
//	kill NODE, restart NODE  restart: from what it has saved
//	connect NODE PEER        a peer tells a node that it knows of no more than the node's disk
//	settle NODE              it acts on what it alone keeps, if peers had time to tell it that its disk was put back
//	deliver                  deliver what is in flight, but not what follows from it
//	run                      deliver until nothing is in flight
//	advance TIME             let time pass: each member ticks every 2 s, a third of a lease
//	drop NODE, drop A -> B   no message to or from a node arrives, or none on one way
//	heal                     all arrive again
//	lease NODE JOB           say until when the owner may act
//	hide KIND..., show KIND...
//
// The first column is the time in seconds, where it has changed. A message takes a millisecond.
func TestScripts(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func() func(string) (string, error) {
		w := &scriptWorld{now: scriptStart, shown: -1, hidden: map[string]bool{}, cut: map[string]bool{},
			specs: map[grid.JobID]*grid.JobSpec{}}
		return w.command
	})
}

const (
	scriptStart = grid.Time(time.Minute)
	maxEvents   = 20_000 // of one command
)

// scriptWorld is the members of a script, and what is on its way between them in the order of its arrival.
type scriptWorld struct {
	now, shown grid.Time
	out        strings.Builder
	nodes      []*scriptNode
	flight     []*letter
	events     int // since the command began
	hidden     map[string]bool
	cut        map[string]bool
	specs      map[grid.JobID]*grid.JobSpec
}

// scriptNode does what package node does with its replicas.
type scriptNode struct {
	w        *scriptWorld
	name     string
	boot     uint64
	replicas *Replicas // nil = dead
	jobs     map[grid.JobID]*Replica
	states   map[grid.JobID]grid.RegisterRecord // on disk
	entries  map[grid.JobID]map[uint32]savedEntry
	tick     grid.Time
	fx       grid.Effects
}

type savedEntry struct {
	entry     *grid.Entry
	committed bool
}

type letter struct {
	at       grid.Time
	from, to *scriptNode
	msg      grid.Message
}

func (w *scriptWorld) command(line string) (string, error) {
	w.out.Reset()
	w.events = 0
	f := strings.Fields(line)
	err := w.do(f[0], f[1:])
	if w.events > maxEvents {
		err = fmt.Errorf("it does not come to an end")
	}
	return w.out.String(), err
}

func (w *scriptWorld) do(verb string, args []string) error {
	switch verb {
	case "start":
		for _, name := range args {
			n := &scriptNode{w: w, name: name, states: map[grid.JobID]grid.RegisterRecord{},
				entries: map[grid.JobID]map[uint32]savedEntry{},
				tick:    w.now.Add(lease/3 + time.Duration(len(w.nodes))*10*time.Millisecond)}
			w.nodes = append(w.nodes, n)
			n.restart()
		}
	case "hide", "show":
		for _, kind := range args {
			w.hidden[kind] = verb == "hide"
		}
	case "drop":
		w.cut[strings.Join(args, " ")] = true
	case "heal":
		clear(w.cut)
	case "deliver":
		w.until(w.now.Add(time.Millisecond))
	case "run":
		for len(w.flight) > 0 {
			w.until(w.flight[0].at)
		}
	case "advance":
		d, err := time.ParseDuration(args[0])
		w.until(w.now.Add(d))
		return err
	case "create":
		tasks, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		members := make([]grid.NodeID, len(args)-2)
		for k, name := range args[2:] {
			members[k] = w.node(name).id()
		}
		n := w.node(args[2])
		id := grid.JobID{Origin: n.id()}
		copy(id.Nonce[:], args[0])
		w.specs[id] = &grid.JobSpec{Count: uint32(tasks)}
		r := n.add(id, members, grid.RegisterState{})
		n.step(func(fx *grid.Effects) { r.Own(w.now); r.Save(fx) })
	default:
		return w.doAt(verb, args)
	}
	return nil
}

// doAt carries out the commands that are about one node.
func (w *scriptWorld) doAt(verb string, args []string) error {
	n := w.node(args[0])
	switch verb {
	case "kill":
		n.replicas = nil
		w.flight = slices.DeleteFunc(w.flight, func(l *letter) bool { return l.to == n || l.from == n })
		return nil
	case "restart":
		n.restart()
		return nil
	case "connect":
		n.step(func(fx *grid.Effects) { n.replicas.HasTold(w.now, w.node(args[1]).id(), fx) })
		return nil
	case "settle":
		if !n.replicas.Settle(w.now) {
			w.printf("%s waits", n.name)
		}
		return nil
	}
	r := n.job(args[1])
	if r == nil {
		return fmt.Errorf("%s does not have %s", args[0], args[1])
	}
	switch verb {
	case "decide":
		e := &grid.Entry{Index: r.Tasks(), Attempt: grid.Attempt{Epoch: r.State().Epoch, N: 1}}
		if args[2] != "cancel" {
			task, _ := strconv.Atoi(args[2])
			code, _ := strconv.Atoi(args[3])
			e.Index, e.Result = uint32(task), &grid.Result{Cause: grid.Exited, Exit: int32(code)}
		}
		n.step(func(*grid.Effects) { r.Propose(e); n.save(r, e.Index) })
	case "close":
		n.step(func(fx *grid.Effects) { r.Close(); r.Save(fx); r.MarkDirty() })
	case "campaign":
		n.step(func(fx *grid.Effects) { r.Campaign(w.now, r.Members(), fx) })
	case "lease":
		switch until := r.MayActUntil(); {
		case !r.MayAct(w.now):
			w.printf("%s may not act on %s", n.name, args[1])
		case until == grid.Never:
			w.printf("%s may act on %s for ever", n.name, args[1])
		default:
			w.printf("%s may act on %s until %.3f", n.name, args[1], until.Sub(scriptStart).Seconds())
		}
	default:
		return fmt.Errorf("no such command")
	}
	return nil
}

func (w *scriptWorld) node(name string) *scriptNode {
	return w.nodes[slices.IndexFunc(w.nodes, func(n *scriptNode) bool { return n.name == name })]
}

func (n *scriptNode) id() grid.NodeID { return grid.NodeID{n.name[0]} }

func (n *scriptNode) job(name string) *Replica {
	for id, r := range n.jobs {
		if jobName(id) == name {
			return r
		}
	}
	return nil
}

func jobName(id grid.JobID) string { return strings.TrimRight(string(id.Nonce[:]), "\x00") }

// restart makes the replicas anew from what is on disk.
func (n *scriptNode) restart() {
	n.boot++
	n.replicas = new(NewReplicas(Config{Self: n.id(), Boot: n.boot, Lease: lease}, grid.Wall{},
		grid.NewRand(uint64(n.name[0]), n.boot)))
	n.jobs = map[grid.JobID]*Replica{}
	n.step(func(fx *grid.Effects) {
		n.replicas.StartSettling(n.w.now, 1, fx)
		for _, id := range slices.SortedFunc(maps.Keys(n.states), grid.JobID.Compare) {
			g := n.states[id]
			r := n.add(id, g.Members, grid.RegisterState{Promised: g.Promised, VotedFor: g.VotedFor, Epoch: g.Epoch,
				Owner: g.Owner, Done: g.Done})
			for _, i := range slices.Sorted(maps.Keys(n.entries[id])) {
				r.Restore(n.entries[id][i].entry, n.entries[id][i].committed)
			}
			r.Resume(n.w.now)
		}
	})
}

func (n *scriptNode) add(id grid.JobID, members []grid.NodeID, s grid.RegisterState) *Replica {
	r := n.replicas.Add(id, n.w.specs[id], 0, members, s)
	n.jobs[id] = r
	return r
}

// save saves an entry.
func (n *scriptNode) save(r *Replica, i uint32) {
	e, committed := r.Value(i)
	if e == nil {
		if _, found := n.entries[r.id][i]; found {
			n.w.printf("%s deletes %s cancellation", n.name, jobName(r.id))
		}
		delete(n.entries[r.id], i)
		return
	}
	kept := *e
	if n.entries[r.id] == nil {
		n.entries[r.id] = map[uint32]savedEntry{}
	}
	n.entries[r.id][i] = savedEntry{&kept, committed}
	text := ""
	if committed {
		text = ", committed"
	}
	n.w.printf("%s saves %s epoch %d%s%s", n.name, jobName(r.id), e.Epoch, entryText(e, r.Tasks()), text)
}

// until delivers messages and lets the members tick until a time.
func (w *scriptWorld) until(end grid.Time) {
	for {
		next := end + 1
		if len(w.flight) > 0 {
			next = min(next, w.flight[0].at)
		}
		for _, n := range w.nodes {
			next = min(next, n.tick)
		}
		if w.events++; w.events > maxEvents {
			w.flight = nil
			return
		}
		if next > end {
			w.now = max(w.now, end)
			return
		}
		w.now = max(w.now, next)
		if len(w.flight) > 0 && w.flight[0].at == next {
			l := w.flight[0]
			w.flight = w.flight[1:]
			if l.to.replicas != nil {
				l.to.step(func(fx *grid.Effects) { l.to.receive(l.from.id(), &l.msg, fx) })
			}
			continue
		}
		for _, n := range w.nodes {
			if n.tick == next {
				n.tick = n.tick.Add(lease / 3)
				if n.replicas != nil {
					n.step(n.ticked)
				}
			}
		}
	}
}

// ticked does what node does in tickReplica.
func (n *scriptNode) ticked(fx *grid.Effects) {
	n.replicas.Retire(slices.DeleteFunc(slices.Clone(n.replicas.Open()), func(r *Replica) bool {
		s := r.State()
		if !r.IsOwner() {
			if !s.Done {
				r.CampaignIfDue(n.w.now, r.Members(), fx)
			}
			return !s.Done
		}
		settled := r.Repeat(n.w.now, fx)
		if s.Done {
			return !settled && r.CountCloseNotice()
		}
		r.RenewIfDue(n.w.now, r.Members(), fx)
		return true
	}))
	n.replicas.SendKeepalives(n.w.now, nil, fx)
}

// receive does what node does in handleRegister.
func (n *scriptNode) receive(from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	g, now := &m.Register, n.w.now
	r := n.jobs[g.Job]
	if r == nil && g.Spec != nil {
		r = n.add(g.Job, slices.Clone(g.Members), grid.RegisterState{})
	}
	switch m.Kind {
	case grid.KindWrite:
		r.Answer(from, grid.KindWriteAck, g, r.Write(now, from, g, fx), fx)
	case grid.KindWriteAck:
		committed, valid := r.Answered(now, from, g, nil, fx)
		if !valid {
			return
		}
		if g.Answer == grid.RegisterDone && !r.State().Done { // another owner closed the job
			r.StepDown()
			r.Campaign(now, r.Members(), fx)
		}
		for _, i := range committed {
			n.save(r, i)
		}
		if r.IsOwner() {
			r.MarkDirty()
		}
	case grid.KindCampaign:
		r.Vote(now, from, g, fx)
	case grid.KindVote:
		if r.CampaignEpoch() != 0 {
			r.VoteAnswered(now, from, g, fx)
		}
	case grid.KindKeepalive:
		n.replicas.KeepaliveReceived(now, from, m, 0, fx)
	case grid.KindKeepaliveAck:
		n.replicas.KeepaliveAnswered(now, from, m, fx)
	}
}

// step carries out what a node does at once: records, changes, messages.
func (n *scriptNode) step(do func(*grid.Effects)) {
	fx := &n.fx
	fx.Reset()
	fx.Begin()
	do(fx)
	n.replicas.SendWrites(n.w.now, fx)
	for i := range fx.Saves {
		g := fx.Saves[i].Register
		n.states[g.ID] = g
		n.w.printf("%s saves %s", n.name, stateText(&g))
	}
	for c, ok := n.replicas.NextChange(); ok; c, ok = n.replicas.NextChange() {
		n.changed(c)
	}
	for i := range fx.Sends {
		n.w.send(n, &fx.Sends[i])
	}
}

// changed follows a change as node does, as far as records go.
func (n *scriptNode) changed(c grid.RegisterChange) {
	r := n.jobs[c.Job]
	switch c.Kind {
	case grid.RegisterWritten:
		n.save(r, c.Index)
	case grid.RegisterMerged:
		for i := range r.Written() {
			n.save(r, i)
		}
		if v, _ := r.Value(r.Tasks()); v == nil {
			n.save(r, r.Tasks())
		}
	default:
		if text := changeTexts[c.Kind]; text != "" {
			n.w.printf("%s: %s", n.name, strings.ReplaceAll(text, "JOB", jobName(c.Job)))
		}
	}
}

func (w *scriptWorld) send(from *scriptNode, s *grid.Send) {
	to := w.nodes[slices.IndexFunc(w.nodes, func(n *scriptNode) bool { return n.id() == s.To })]
	m := s.Msg
	m.Attempts, m.Register.Members, m.Register.Entries = slices.Clone(m.Attempts), slices.Clone(m.Register.Members),
		slices.Clone(m.Register.Entries)
	fate := ""
	if w.cut[from.name] || w.cut[to.name] || w.cut[from.name+" -> "+to.name] || to.replicas == nil {
		fate = ", lost"
	} else {
		w.flight = append(w.flight, &letter{w.now.Add(time.Millisecond), from, to, m})
	}
	if kind := kindNames[m.Kind]; !w.hidden[kind] {
		w.printf("%s -> %s %s%s", from.name, to.name, w.messageText(&m), fate)
	}
}
