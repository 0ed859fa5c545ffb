package replication

import (
	"fmt"
	"slices"

	"skep/grid"
	"skep/node/failures"
)

// world is a state of a small instance: three members, every message ever sent, and what must hold for ever. A message
// that was sent may be delivered any number of times, in any order, or never.
type world struct {
	members [4]*Register // the last one joins, if any does
	boots   [4]uint8
	buried  [4]bool   // evicted: a tombstone answers
	sent    []uint16  // sorted names of messages
	chosen  [6]uint32 // epoch of the attempt of a committed entry, by place; 0 = none
	wrong   string
}

// Kinds of messages.
const (
	writeRequest = iota
	writeAnswer
	voteRequest
	voteAnswer
)

type message struct {
	from, to int
	kind     int
	g        grid.RegisterMessage
}

type model struct {
	campaigns  [4]uint32 // highest epoch that each member campaigns for
	crashes    int
	cancels    bool   // owners may cancel
	ends       bool   // owners may close the job
	fails      bool   // the task's first end is open, and is succeeded by one of the next round
	reopens    bool   // a member may open the closed job once, and an owner then has the task run again
	evicts     bool   // members may evict the closed job
	forgets    bool   // a crash loses votes: a disk fault that must not happen
	amnesia    bool   // they leave no tombstones
	replaces   uint32 // times that members are replaced, by the fourth node or one that was replaced
	joined     bool   // the fourth node has the record to begin with
	out        byte   // number of the one node that is replaced; 0 = any
	settles    bool   // a change settles at once: an error that must not happen
	hidesOwner bool   // voters do not say whose epoch they have accepted
	messages   []message
	names      map[string]uint16
	ids        []grid.NodeID
}

func (m *model) first() *world {
	m.names, m.ids = map[string]uint16{}, []grid.NodeID{{1}, {2}, {3}}
	w := &world{}
	for i := range w.members[:3] {
		w.members[i] = newRegister(m.ids[i], m.ids, 1, grid.RegisterState{})
	}
	w.members[0].BecomeOwner(1)
	m.send(w, 0)
	if m.joined {
		m.settle(w)
		w.members[0].Join(grid.NodeID{4})
		m.send(w, 0)
		m.settle(w)
		w.sent = nil
	}
	return w
}

// send records what a member has to send: sending costs nothing, as a message may never arrive.
func (m *model) send(w *world, i int) {
	r := w.members[i]
	for place, id := range r.seats.Places() {
		var g grid.RegisterMessage
		to := int(id[0]) - 1
		if r.NextWrite(place, &g) {
			m.record(w, message{i, to, writeRequest, g})
		}
		g = grid.RegisterMessage{}
		if r.VoteRequest(place, &g) {
			m.record(w, message{i, to, voteRequest, g})
		}
	}
}

func (m *model) record(w *world, l message) {
	key := []byte{byte(l.from), byte(l.to), byte(l.kind), byte(l.g.Answer), byte(l.g.Epoch), byte(l.g.Seq),
		byte(l.g.Seq >> 8), byte(l.g.Next), l.g.Owner[0], byte(l.g.Opened)}
	key = appendMembership(key, l.g.Set)
	if l.g.Done {
		key = append(key, 1)
	}
	for _, f := range l.g.Entries {
		key = append(key, 2, byte(f.Index), byte(f.Epoch), byte(f.Attempt.Epoch), byte(f.Round))
	}
	name, known := m.names[string(key)]
	if !known {
		name = uint16(len(m.messages))
		m.names[string(key)] = name
		m.messages = append(m.messages, l)
	}
	if at, ok := slices.BinarySearch(w.sent, name); !ok {
		w.sent = slices.Insert(slices.Clone(w.sent), at, name)
	}
}

// after visits the worlds that may follow.
func (m *model) after(w *world, visit func(*world)) {
	for _, name := range w.sent {
		l := &m.messages[name]
		n := w.with(l.to)
		m.deliver(n, l)
		visit(n)
	}
	for i, r := range w.members {
		if r == nil {
			continue
		}
		me := grid.NodeID{byte(i + 1)}
		m.changes(w, i, visit)
		if r.MayOwn() && r.state.Promised > 0 && max(r.state.Promised, r.CampaignEpoch()) < m.campaigns[i] && !r.state.Done {
			n := w.with(i)
			n.members[i].Campaign(r.CampaignEpoch())
			m.send(n, i)
			visit(n)
		}
		if r.IsOwner() && r.Ready() && !r.state.Done {
			for k := range r.Tasks() + 1 {
				if v, _ := r.Value(k); v == nil && (k == 0 || m.cancels) || v != nil && v.Open() {
					p := w.with(i)
					e := &grid.Entry{Index: k, Attempt: grid.Attempt{Epoch: r.state.Epoch}}
					if v != nil {
						e.Round, e.RetriedAt = v.Round+1, v.RetriedAt
					} else if m.fails && k == 0 {
						e.Again = 1
					}
					p.members[i].Propose(e)
					m.send(p, i)
					visit(p)
				}
			}
			if v, final := r.Value(0); r.state.Opened > 0 && v != nil && final && v.Round == 0 {
				n := w.with(i)
				m.retry(n, i)
				visit(n)
			}
			written, committed := r.Cancelled()
			if v, final := r.Value(0); m.ends && v != nil && final && !v.Open() && written == committed {
				n := w.with(i)
				n.members[i].Close()
				m.send(n, i)
				visit(n)
			}
		}
		if m.reopens && r.state.Done && r.state.Opened == 0 {
			n := w.with(i)
			if r.IsOwner() {
				n.members[i].Reopen()
				m.retry(n, i)
			} else {
				n.members[i].open(1)
				m.send(n, i)
			}
			visit(n)
		}
		if m.evicts && r.state.Done && !w.buried[i] {
			n := w.with(i)
			m.evict(n, i)
			visit(n)
		}
		if int(w.boots[0])+int(w.boots[1])+int(w.boots[2])+int(w.boots[3]) < m.crashes {
			n := w.with(i)
			n.boots[i]++
			n.members[i].StepDown()
			if m.forgets {
				s := &n.members[i].state
				s.Promised, s.VotedFor = s.Epoch, s.Owner
			}
			if n.members[i].state.Owner == me {
				n.members[i].BecomeOwner(m.seq(n, i))
			}
			m.send(n, i)
			visit(n)
		}
	}
}

// retry has the owner decide that the task is run again.
func (m *model) retry(w *world, i int) {
	r := w.members[i]
	v, _ := r.Value(0)
	r.Propose(&grid.Entry{Round: v.Round + 1, RetriedAt: v.Round + 2, Again: 1,
		Attempt: grid.Attempt{Epoch: r.state.Epoch}})
	m.send(w, i)
}

// evict makes a member forget a job that is over.
func (m *model) evict(w *world, i int) {
	if r := w.members[i]; m.amnesia {
		w.members[i] = newRegister(m.ids[i], m.ids, 1, grid.RegisterState{})
	} else {
		w.buried[i], r.ownership, r.campaign = true, nil, nil
	}
}

// seq is above all that a member used before it last became the owner or restarted as the owner.
func (m *model) seq(w *world, i int) uint64 {
	return uint64(w.boots[i])*512 + uint64(w.members[i].state.Promised)*64
}

func (m *model) deliver(w *world, l *message) {
	r := w.members[l.to]
	answer := grid.RegisterMessage{Epoch: l.g.Epoch, Seq: l.g.Seq}
	from := grid.NodeID{byte(l.from + 1)}
	if r == nil { // it is given the record
		r = newRegister(grid.NodeID{byte(l.to + 1)}, m.ids, 1, grid.RegisterState{Set: l.g.Set})
		w.members[l.to] = r
	}
	before := r.state
	if l.kind != writeRequest && (l.kind != writeAnswer || l.g.Answer != grid.RegisterOK) {
		r.learn(from, l.g.Set)
	}
	switch l.kind {
	case writeRequest:
		g := l.g
		if t := makeTombstone(r); w.buried[l.to] {
			t.Answer(grid.KindWriteAck, &g, &answer)
			m.record(w, message{l.to, l.from, writeAnswer, answer})
			return
		}
		var changed []uint32
		answer.Answer, changed = r.Write(from, &g, nil)
		for _, i := range changed {
			if v, final := r.Value(i); final {
				w.choose(v)
			}
		}
		if answer.Answer == grid.RegisterHigher {
			answer.Epoch = r.state.Promised
		}
		answer.Set = r.state.Set
		m.record(w, message{l.to, l.from, writeAnswer, answer})
	case voteRequest:
		if t := makeTombstone(r); w.buried[l.to] {
			t.Answer(grid.KindVote, &l.g, &answer)
			if v, _ := r.Value(1); v != nil && len(answer.Entries) > 0 { // only here cancellations differ
				answer.Entries[0].Attempt = v.Attempt
			}
		} else if answer.Answer = r.Vote(from, l.g.Epoch, l.g.Opened, false); answer.Answer == grid.RegisterOK ||
			answer.Answer == grid.RegisterDone {
			if !m.hidesOwner {
				answer.Owner = r.state.Owner
			}
			r.Page(l.g.Next, &answer)
			answer.Opened = r.state.Opened
		} else if answer.Answer == grid.RegisterHigher {
			answer.Epoch = r.state.Promised
		}
		answer.Set = r.state.Set
		m.record(w, message{l.to, l.from, voteAnswer, answer})
	case writeAnswer:
		g := l.g
		finals, _ := r.WriteAnswered(from, &g, nil)
		for _, i := range finals {
			v, _ := r.Value(i)
			w.choose(v)
		}
	case voteAnswer:
		g := l.g
		base := uint64(w.boots[l.to])*512 + uint64(r.CampaignEpoch())*64
		switch outcome := r.VoteReceived(from, &g, base); {
		case outcome == CampaignRenewed && r.seats.Decides(w.accepted(r, before.Epoch+1, r.state.Epoch)):
			w.wrong = "an owner takes its epoch for renewed, and another may have acted since"
		case outcome == CampaignVoid:
			w.wrong = "a job that its origin knows is taken for one that nobody knows"
		case outcome == CampaignGone && w.kept(2):
			w.wrong = "an outcome is given up that a majority of the members has"
		case outcome == CampaignGone:
			m.evict(w, l.to)
		case outcome == CampaignDone:
			if v, final := r.Value(0); v != nil && final {
				w.choose(v)
			}
		}
	}
	if now := r.state; before.Done && !now.Done && now.Opened == before.Opened ||
		now.Promised < before.Promised || now.Epoch < before.Epoch ||
		now.Opened < before.Opened {
		w.wrong = "a member goes back"
	}
	m.send(w, l.to)
}

// kept reports whether so many members have the outcome: they have not evicted it.
func (w *world) kept(majority int) bool {
	n := 0
	for i, r := range w.members[:3] {
		if v, _ := r.Value(0); v != nil && !v.Open() && v.Attempt.Epoch == w.chosen[placeOf(v)] && !w.buried[i] {
			n++
		}
	}
	return n >= majority
}

// accepted returns which of those with a place in a register have last accepted an epoch from first on and below end.
func (w *world) accepted(in *Register, first, end uint32) (places uint8) {
	for place, id := range in.seats.Places() {
		if r := w.members[id[0]-1]; r != nil && r.state.Epoch >= first && r.state.Epoch < end {
			places |= 1 << place
		}
	}
	return places
}

// choose records a committed entry: for ever.
func (w *world) choose(f *grid.Entry) {
	at := placeOf(f)
	if w.chosen[at] != 0 && w.chosen[at] != f.Attempt.Epoch {
		w.wrong = "an entry was committed with another value"
	}
	w.chosen[at] = f.Attempt.Epoch
}

// placeOf returns an entry's place in world.chosen: the task's first round, the cancellation, the task's later rounds.
func placeOf(f *grid.Entry) uint32 { return f.Index + 2*f.Round }

// check finds members that hold another value for committed than the recorded one.
func (w *world) check() {
	w.checkMemberships()
	for _, r := range w.members {
		if r == nil {
			continue
		}
		retried, size := 0, grid.Bytes(0)
		for i, x := range r.slots.All() {
			if x.value != nil {
				size += grid.Bytes(x.value.Weight())
			}
			if x.value != nil && i < r.tasks {
				retried += failures.Count(x.value)
			}
			if x.value != nil && (x.committed || r.state.Done) && x.value.Attempt.Epoch != w.chosen[placeOf(x.value)] {
				w.wrong = "a member holds another value for committed"
			}
		}
		if retried != r.retried || size != r.bytes {
			w.wrong = fmt.Sprintf("%d failures and %d bytes are counted of %d and %d", r.retried, r.bytes, retried, size)
		}
	}
}

// noEffect reports whether a message can have no effect, now or later: such messages are left out of a world's key, or
// equal worlds would differ by their past.
func (m *model) noEffect(w *world, l *message) bool {
	r, sender := w.members[l.to], w.members[l.from]
	if r == nil || r.seats.Superseded(l.g.Set, r.me) {
		return false
	}
	toPlace, fromPlace := sender.Place(r.me), r.Place(sender.me)
	switch l.kind {
	case writeRequest: // applied before, or refused, and its sender awaits no answer
		return l.g.Opened <= r.state.Opened && l.g.Epoch <= r.state.Promised &&
			(sender.ownership == nil || toPlace < 0 || sender.ownership.progress[toPlace].seq != l.g.Seq) &&
			(l.g.Epoch < r.state.Promised || !slices.ContainsFunc(l.g.Entries, func(f grid.Entry) bool {
				v, _ := r.Value(f.Index)
				return v == nil || v.OlderThan(l.g.Epoch, f.Round)
			}) && (r.state.Done || !l.g.Done) && r.state.Epoch == l.g.Epoch)
	case voteRequest:
		return l.g.Epoch <= r.state.Promised && sender.CampaignEpoch() != l.g.Epoch
	case writeAnswer:
		return r.ownership == nil || fromPlace < 0 || r.ownership.progress[fromPlace].seq != l.g.Seq
	case voteAnswer:
		if l.g.Answer == grid.RegisterGone {
			return r.state.Done || w.buried[l.to]
		}
		return l.g.Epoch <= r.state.Promised && l.g.Answer != grid.RegisterHigher || r.campaign == nil &&
			l.g.Epoch < r.state.Promised
	}
	return false
}

func newRegister(self grid.NodeID, members []grid.NodeID, tasks int, s grid.RegisterState) *Register {
	r := makeRegister(self, members, uint32(tasks), 0, s)
	return &r
}
