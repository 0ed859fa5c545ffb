package wire

import (
	"fmt"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

func putRegisterRecord(g *grid.RegisterRecord) (*pb.GuardValue, error) {
	if g.Spec == nil {
		return nil, fmt.Errorf("record of the register of job %s: %w: has no spec", g.ID.Short(), ErrMalformed)
	}
	spec, err := specBytes(g.Spec)
	return &pb.GuardValue{Spec: spec, Members: putNodes(g.Members), Submitted: g.Submitted, Promised: g.Promised,
		To: putNode(g.VotedFor), Epoch: g.Epoch, Owner: putNode(g.Owner), Done: g.Done, Held: g.Held, Opened: g.Opened,
		Genesis: []byte(g.Genesis), Mandate: []byte(g.Mandate), Set: putMembership(g.Set)}, err
}

func putEntryRecord(e *grid.EntryRecord) (*pb.EntryValue, error) {
	t, err := putTaskRecord(&e.TaskRecord)
	p := &pb.EntryValue{Task: t, Epoch: e.Epoch, Final: e.Committed, Held: e.Held, Round: e.Round,
		Failures: putFailures(e.Failures), RetriedAt: e.RetriedAt, RetryEpoch: e.RetryEpoch}
	if e.Open != nil {
		p.Open = putFinal(e.Open)
	}
	return p, err
}

func getRegisterRecord(key, value []byte, g *grid.RegisterRecord) error {
	var p pb.GuardValue
	err := parse(value, &p)
	if err == nil {
		err = getJob(key, &g.ID)
	}
	if err == nil {
		g.Spec, err = readSpec(p.Spec)
	}
	if err == nil {
		g.Members, err = getMembers(nil, p.Members)
	}
	if err == nil {
		err = first(getNode("to", p.To, &g.VotedFor), getNode("owner", p.Owner, &g.Owner))
	}
	if err == nil {
		g.Set, err = getMembership(p.Set)
	}
	g.Submitted, g.Promised, g.Epoch, g.Done, g.Held = p.Submitted, p.Promised, p.Epoch, p.Done, p.Held
	g.Opened, g.Genesis, g.Mandate = p.Opened, string(p.Genesis), string(p.Mandate)
	return err
}

func getEntryRecord(key, value []byte, e *grid.EntryRecord) error {
	var p pb.EntryValue
	if err := parse(value, &p); err != nil {
		return err
	}
	if p.Task == nil {
		return fmt.Errorf("entry: %w: has no task", ErrMalformed)
	}
	e.Epoch, e.Committed, e.Held, e.Round = p.Epoch, p.Final, p.Held, p.Round
	e.RetriedAt, e.RetryEpoch = p.RetriedAt, p.RetryEpoch
	var err error
	if e.Failures, err = getFailures(p.Failures); err != nil {
		return err
	}
	if p.Open != nil {
		open, err := getFinal(p.Open)
		if err != nil {
			return err
		}
		e.Open = &open
	}
	return readTaskRecord(key, p.Task, &e.TaskRecord)
}

func putTombstone(t *grid.TombstoneRecord) *pb.TombstoneValue {
	return &pb.TombstoneValue{Epoch: t.Epoch, Tasks: t.Tasks, Cancelled: t.Cancelled, Members: t.Members[:],
		Ended: t.Ended, Opened: t.Opened}
}

func getTombstone(key, value []byte, t *grid.TombstoneRecord) error {
	var p pb.TombstoneValue
	err := parse(value, &p)
	if err == nil {
		err = getJob(key, &t.ID)
	}
	if err == nil && len(p.Members) != len(t.Members) {
		err = fmt.Errorf("tombstone: %w: a hash of %d bytes, want %d", ErrBound, len(p.Members), len(t.Members))
	}
	copy(t.Members[:], p.Members)
	t.Epoch, t.Tasks, t.Cancelled, t.Ended, t.Opened = p.Epoch, p.Tasks, p.Cancelled, p.Ended, p.Opened
	return err
}

// maxChanges bounds the number of a membership: each change takes a node that is dead for a while.
const maxChanges = 1 << 30

func putMembership(m *grid.Membership) *pb.Membership {
	if m == nil {
		return nil
	}
	return &pb.Membership{Number: m.Number, Epoch: m.Epoch, Members: putNodes(m.Members), At: m.At,
		Extra: putNode(m.Extra), Joining: m.Joining, Links: []byte(m.Links)}
}

func getMembership(p *pb.Membership) (*grid.Membership, error) {
	if p == nil {
		return nil, nil
	}
	m := &grid.Membership{Number: p.Number, Epoch: p.Epoch, At: p.At, Joining: p.Joining,
		Links: string(p.Links)}
	var err error
	if m.Members, err = getMembers(nil, p.Members); err != nil {
		return nil, err
	}
	if err = getNode("extra", p.Extra, &m.Extra); err == nil {
		err = m.Check()
	}
	if m.Number > maxChanges {
		err = fmt.Errorf("change %d of members", m.Number)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBound, err)
	}
	return m, nil
}
