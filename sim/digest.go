package sim

import (
	"math"
	"math/bits"

	"skep/grid"
)

// digest is a running hash of all events and effects of every node. Two runs with the same digest took the same steps.
type digest uint64

func (d *digest) add(xs ...uint64) {
	h := uint64(*d)
	for _, x := range xs {
		h = bits.RotateLeft64(h^x, 29) * 0x9e3779b97f4a7c15
	}
	*d = digest(h ^ h>>32)
}

// id returns what the digest takes of a node's identity: its index.
func (d *digest) id(n *grid.NodeID) uint64 { return uint64(get32(n[:])) }

func (d *digest) attempt(a *grid.AttemptID) {
	d.add(uint64(get32(a.Task.Job.Nonce[:]))<<32|uint64(a.Task.Index), uint64(a.Epoch)<<32|uint64(a.N))
}

// event adds the input of a step.
func (d *digest) event(now grid.Time, i int32, ev *grid.Event) {
	d.add(uint64(now), uint64(i)<<8|uint64(ev.Kind), d.id(&ev.Peer), uint64(ev.Timer.Kind), ev.Timer.Key, uint64(ev.RTT),
		ev.Caller, uint64(len(ev.Err)))
	d.attempt(&ev.Attempt)
	if ev.Result != nil {
		d.add(uint64(ev.Result.Cause), uint64(ev.Result.Exit), uint64(ev.Result.Wall))
	}
	if ev.Kind == grid.EvAvailable {
		d.add(math.Float64bits(ev.Left), math.Float64bits(ev.Up))
	}
	if h := ev.Hour; h.Known {
		d.add(uint64(h.Day)<<8 | uint64(h.OfDay))
	}
	if ev.Kind == grid.EvTransferred {
		d.add(uint64(ev.Bytes), uint64(ev.Took))
	}
	if ev.Msg != nil {
		d.message(ev.Msg)
	}
}

// effects adds the output of a step.
func (d *digest) effects(fx *grid.Effects) {
	for k := range fx.Saves {
		d.record(&fx.Saves[k])
	}
	for k := range fx.Sends {
		d.add(d.id(&fx.Sends[k].To))
		d.message(&fx.Sends[k].Msg)
	}
	for k := range fx.Announces {
		d.message(&fx.Announces[k])
	}
	for _, x := range fx.Wakes {
		d.add(uint64(x.At), uint64(x.Timer.Kind), x.Timer.Key)
	}
	for k := range fx.Fetches {
		d.attempt(&fx.Fetches[k].Attempt)
	}
	for k := range fx.Starts {
		d.attempt(&fx.Starts[k].Attempt)
	}
	for _, x := range fx.Suspends {
		d.attempt(&x.Attempt)
		resume := uint64(0)
		if x.Resume {
			resume = 1
		}
		d.add(resume)
	}
	for k := range fx.Stops {
		d.attempt(&fx.Stops[k].Attempt)
	}
	for k := range fx.Replies {
		d.add(fx.Replies[k].Caller, uint64(len(fx.Replies[k].Err)))
	}
	for k := range fx.Links {
		keep := uint64(0)
		if fx.Links[k].Keep {
			keep = 1 << 40
		}
		d.add(d.id(&fx.Links[k].Peer) | keep)
	}
	for k := range fx.Changed {
		d.add(uint64(get32(fx.Changed[k].Job.Nonce[:]))<<32 | uint64(fx.Changed[k].Index))
	}
}

func (d *digest) record(r *grid.Record) {
	d.add(uint64(r.Kind))
	switch r.Kind {
	case grid.RecWork:
		d.attempt(&r.Work.ID)
		d.add(uint64(r.Work.State))
		if h := r.Work.HandedBack; h != nil {
			d.add(uint64(h.Why), d.id(&h.Puller))
		}
	case grid.RecClass:
		d.add(uint64(len(r.Class.Class)))
	case grid.RecRegister:
		d.add(uint64(get32(r.Register.ID.Nonce[:])), uint64(r.Register.Promised), uint64(r.Register.Epoch),
			d.id(&r.Register.Owner))
	case grid.RecTombstone:
		d.add(uint64(get32(r.Tombstone.ID.Nonce[:])), uint64(r.Tombstone.Epoch))
	case grid.RecCheckpoint:
		d.attempt(&r.Checkpoint.ID)
		d.add(r.Checkpoint.Step)
	case grid.RecEntry:
		d.attempt(&r.Entry.ID)
		d.add(uint64(r.Entry.State), uint64(r.Entry.Epoch))
		if r.Entry.Further > 0 {
			d.add(uint64(r.Entry.Further))
		}
	}
}

func (d *digest) register(g *grid.RegisterMessage) {
	d.add(uint64(get32(g.Job.Nonce[:])), uint64(g.Epoch), g.Seq, uint64(g.Answer), d.id(&g.Owner), uint64(g.Count), g.Sum,
		uint64(g.Next))
	for k := range g.Entries {
		f := &g.Entries[k]
		d.add(uint64(f.Index), uint64(f.Epoch), uint64(f.Attempt.Epoch), uint64(f.Attempt.N), d.id(&f.Worker))
	}
}

func (d *digest) message(m *grid.Message) {
	d.add(uint64(m.Kind), uint64(len(m.Digest)), uint64(len(m.Attempts)), m.Poll.ID, m.Poll.Mine, m.State.ID,
		uint64(m.State.ECT),
		uint64(m.State.Backlog), uint64(m.Refusal.Why), m.Find.ID, uint64(m.Find.Left), uint64(len(m.Find.Visited)))
	for k := range m.Digest {
		if ad := m.Digest[k].Ad; ad != nil {
			d.add(d.id(&ad.Node), ad.Seq.Boot, ad.Seq.N, uint64(m.Digest[k].Hops), uint64(ad.Backlog))
		}
	}
	for k := range m.Attempts {
		d.attempt(&m.Attempts[k])
	}
	for _, rates := range [...][]grid.Rate{m.Poll.Rates, m.State.Rates} {
		for k := range rates {
			d.add(uint64(len(rates[k].Class)), math.Float64bits(rates[k].Alpha), math.Float64bits(rates[k].Mu))
		}
	}
	if m.Kind >= grid.KindWrite && m.Kind <= grid.KindStartLeaseAck || m.Kind == grid.KindAwait ||
		m.Kind == grid.KindAwaited {
		d.register(&m.Register)
	}
	if r := m.Reserve; r != nil {
		d.add(uint64(get32(r.Job.Nonce[:])), uint64(r.Attempt.Epoch)<<32|uint64(r.Attempt.N),
			uint64(r.Round)<<32|uint64(r.Ranks),
			uint64(r.Refusal.Why))
	}
	if x := m.Checkpoint; x != nil {
		d.add(x.Step, x.Usable, uint64(len(x.Closed)), uint64(len(x.Files)), uint64(x.Refusal.Why))
	}
	d.attempt(&m.Offer.ID)
	if m.Result != nil {
		d.add(uint64(m.Result.Cause), uint64(m.Result.Exit), uint64(m.Result.Wall))
	}
}
