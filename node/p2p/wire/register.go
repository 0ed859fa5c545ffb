package wire

import (
	"fmt"
	"slices"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

func putRegister(g *grid.RegisterMessage) (*pb.Guard, error) {
	spec, err := specBytes(g.Spec)
	if err != nil {
		return nil, err
	}
	p := &pb.Guard{Job: putJob(g.Job), Epoch: g.Epoch, Seq: g.Seq, Answer: uint32(g.Answer), Owner: putNode(g.Owner),
		Spec: spec, Members: putNodes(g.Members), Age: putSpan(g.Age), Done: g.Done,
		Next: g.Next, More: g.More, Opened: g.Opened, Count: g.Count, Set: putMembership(g.Set),
		Genesis: []byte(g.Genesis), Vote: []byte(g.Vote), Mandate: []byte(g.Mandate), Change: []byte(g.Change)}
	for k := range g.Entries {
		p.Finals = append(p.Finals, putFinal(&g.Entries[k]))
	}
	return p, nil
}

func (c *Codec) readRegister(b []byte, g *grid.RegisterMessage) error {
	var p pb.Guard
	err := parse(b, &p)
	if err == nil {
		err = first(getJob(p.Job, &g.Job), getNode("owner", p.Owner, &g.Owner))
	}
	if err == nil {
		g.Members, err = getMembers(g.Members, p.Members)
	}
	if err == nil {
		g.Age, err = getSpan("age", p.Age)
	}
	if err == nil {
		g.Set, err = getMembership(p.Set)
	}
	if err == nil && len(p.Spec) > 0 {
		g.Spec, err = c.spec(g.Job, p.Spec)
	}
	if err != nil {
		return err
	}
	g.Epoch, g.Seq, g.Answer, g.Done, g.Next, g.More = p.Epoch, p.Seq, getAnswer(p.Answer), p.Done, p.Next, p.More
	g.Opened = p.Opened
	g.Count = p.Count
	g.Signatures = grid.Signatures{Genesis: string(p.Genesis), Vote: string(p.Vote), Mandate: string(p.Mandate),
		Change: string(p.Change)}
	for _, x := range p.Finals {
		f, err := getFinal(x)
		if err == nil && f.Result != nil {
			err = text("error", f.Result.Error, grid.MaxText)
		}
		if err != nil {
			return err
		}
		g.Entries = append(g.Entries, f)
	}
	return nil
}

func (c *Codec) putKeepalive(m *grid.Message) *pb.Watch {
	g := &m.Register
	p := &pb.Watch{Epoch: g.Epoch, Seq: g.Seq, Answer: uint32(g.Answer), Owner: putNode(g.Owner), More: g.More,
		Count: g.Count, Sum: g.Sum, Room: g.Room, Set: putMembership(g.Set),
		Change: []byte(g.Change), Mandate: []byte(g.Mandate)}
	if g.Job != (grid.JobID{}) {
		p.Job = putJob(g.Job)
	}
	if len(m.Attempts) > 0 {
		p.Attempts = putReports(c.putAttempts(m.Attempts), m)
	}
	return p
}

func (c *Codec) readKeepalive(b []byte, m *grid.Message) error {
	var p pb.Watch
	g := &m.Register
	err := parse(b, &p)
	if err == nil && len(p.Job) > 0 {
		err = getJob(p.Job, &g.Job)
	}
	if err == nil {
		err = getNode("owner", p.Owner, &g.Owner)
	}
	if err == nil {
		g.Set, err = getMembership(p.Set)
	}
	if err == nil && p.Attempts != nil {
		err = c.attemptsOf(p.Attempts, m)
	}
	g.Change, g.Mandate = string(p.Change), string(p.Mandate)
	g.Epoch, g.Seq, g.Answer, g.More, g.Count, g.Sum, g.Room = p.Epoch, p.Seq, getAnswer(p.Answer), p.More, p.Count, p.Sum,
		p.Room
	return err
}

// lastAnswer is the highest answer that this version knows.
const lastAnswer = grid.RegisterReplaced

// getAnswer maps an answer of a later version to the empty one.
func getAnswer(n uint32) grid.RegisterAnswer {
	if n > uint32(lastAnswer) {
		return 0
	}
	return grid.RegisterAnswer(n)
}

// maxOpened bounds how often a register is opened again: each takes a call of a user.
const maxOpened = 1 << 30

// registerBody checks messages between members of a register, and those about jobs that others wait for. Only writes,
// votes and the latter carry entries; the job is named wherever there are any.
func registerBody(k grid.Kind, m *grid.Message) error {
	g := &m.Register
	if g.Spec != nil {
		if err := bound(g.Spec.Check()); err != nil {
			return fmt.Errorf("spec: %w", err)
		}
	}
	if len(g.Members) > grid.MaxMembers || g.Answer > lastAnswer {
		return fmt.Errorf("%d members, answer %d: %w: want at most %d and %d", len(g.Members), g.Answer, ErrBound,
			grid.MaxMembers, lastAnswer)
	}
	if g.Opened > maxOpened {
		return fmt.Errorf("a register opened %d times: %w: want at most %d", g.Opened, ErrBound, maxOpened)
	}
	carries := k == grid.KindWrite || k == grid.KindVote || k == grid.KindAwait || k == grid.KindAwaited
	if len(g.Entries) > grid.MaxEntries || len(g.Entries) > 0 && !carries {
		return fmt.Errorf("%d entries: %w: want at most %d, and none but in a write or promise", len(g.Entries), ErrBound,
			grid.MaxEntries)
	}
	for i := range g.Entries {
		if err := final(&g.Entries[i]); err != nil {
			return err
		}
	}
	return first(attempts(m.Attempts, 0, grid.MaxBeats), reports(m), spans("age", g.Age, "", 0))
}

// final checks an entry. One without a result is a cancellation, or marks an empty place; its index is at most a
// job's count, but of what the job waits for.
func final(f *grid.Entry) error {
	if f.Index > grid.MaxEntryIndex || f.Lost < 0 || f.Placed < 0 || f.Began < 0 || f.Done < 0 {
		return fmt.Errorf("entry %d, %d lost: %w: want at most %d, and nothing negative", f.Index, f.Lost, ErrBound,
			grid.MaxEntryIndex)
	}
	if err := openEntry(f); err != nil || f.Result == nil {
		return err
	}
	return first(result(f.Result), nil)
}

func putNode(id grid.NodeID) []byte {
	if id.IsZero() {
		return nil
	}
	return slices.Clone(id[:])
}

func getNode(field string, b []byte, id *grid.NodeID) error {
	if len(b) != 0 && len(b) != nodeSize {
		return fmt.Errorf("%s: %w: %d bytes, want %d", field, ErrBound, len(b), nodeSize)
	}
	copy(id[:], b)
	return nil
}

func putNodes(ids []grid.NodeID) (b []byte) {
	for i := range ids {
		b = append(b, ids[i][:]...)
	}
	return b
}

// getMembers decodes the members of a register.
func getMembers(dst []grid.NodeID, b []byte) ([]grid.NodeID, error) {
	return getNodes("members", grid.MaxMembers, dst, b)
}

func getNodes(what string, most int, dst []grid.NodeID, b []byte) ([]grid.NodeID, error) {
	if len(b)%nodeSize != 0 || len(b) > nodeSize*most {
		return dst, fmt.Errorf("%s: %w: %d bytes, want up to %d times %d", what, ErrBound, len(b), most, nodeSize)
	}
	for ; len(b) > 0; b = b[nodeSize:] {
		dst = append(dst, grid.NodeID(b[:nodeSize]))
	}
	return dst, nil
}
