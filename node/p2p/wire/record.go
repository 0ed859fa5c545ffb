package wire

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// recordVersion is the first byte of every value. Whoever raises it adds what makes a value of the version before
// one of it to recordVersions.
const recordVersion = 1

// recordVersions are those that are read. None has been but the first one.
var recordVersions = versions{latest: recordVersion}

// versions says which versions of a value are read, and makes the latest of an earlier one. What is read so is
// written as the latest, when its record changes next.
type versions struct {
	latest byte
	next   []func(kind grid.RecordKind, body []byte) ([]byte, error) // of version 1, 2 and so on; latest-1 of them
}

// read returns a value without its version, as one of the latest.
func (v *versions) read(kind grid.RecordKind, value []byte) (body []byte, err error) {
	if len(value) == 0 {
		return nil, fmt.Errorf("record: %w: no value", ErrMalformed)
	}
	at, body := value[0], value[1:]
	switch {
	case at > v.latest:
		return nil, fmt.Errorf("record: %w %d: this Skep reads %d and older", ErrVersion, at, v.latest)
	case at == 0:
		return nil, fmt.Errorf("record: %w: version 0, which none has", ErrMalformed)
	}
	for ; at < v.latest; at++ {
		if body, err = v.next[at-1](kind, body); err != nil {
			return nil, fmt.Errorf("record of version %d: %w", at, err)
		}
	}
	return body, nil
}

const taskSize = jobSize + 4

// AppendRecord returns the key and value of a record, both in memory appended to dst; value is nil for a deletion.
// A key is the kind in a byte and the ID with its numbers big-endian, so that keys sort as kinds and IDs do. A task
// has one record whatever its attempt: its key is the TaskID.
func AppendRecord(dst []byte, r *grid.Record) (key, value []byte, err error) {
	b, err := appendKey(append(dst, byte(r.Kind)), r)
	if err != nil {
		return nil, nil, err
	}
	start, end := len(dst), len(b)
	if r.Delete {
		return b[start:end:end], nil, nil
	}
	p, err := putRecord(r)
	if err != nil {
		return nil, nil, err
	}
	if b, err = marshal.MarshalAppend(append(b, recordVersion), p); err != nil {
		return nil, nil, fmt.Errorf("record of kind %d: %w: %w", r.Kind, ErrBound, err)
	}
	return b[start:end:end], b[end:], nil
}

func appendKey(b []byte, r *grid.Record) ([]byte, error) {
	switch r.Kind {
	case grid.RecWork:
		return AppendAttempt(b, r.Work.ID), nil
	case grid.RecRegister:
		return appendJob(b, r.Register.ID), nil
	case grid.RecTombstone:
		return appendJob(b, r.Tombstone.ID), nil
	case grid.RecEntry:
		return appendTask(b, r.Entry.ID.Task), nil
	case grid.RecCheckpoint:
		return appendTask(b, r.Checkpoint.ID.Task), nil
	case grid.RecClass:
		return append(b, r.Class.Class...), nil
	}
	return nil, fmt.Errorf("record: %w %d", ErrKind, r.Kind)
}

func appendTask(b []byte, t grid.TaskID) []byte {
	return binary.BigEndian.AppendUint32(appendJob(b, t.Job), t.Index)
}

func putRecord(r *grid.Record) (proto.Message, error) {
	switch r.Kind {
	case grid.RecRegister:
		return putRegisterRecord(&r.Register)
	case grid.RecEntry:
		return putEntryRecord(&r.Entry)
	case grid.RecTombstone:
		return putTombstone(&r.Tombstone), nil
	case grid.RecCheckpoint:
		return putCheckpointRecord(r.Checkpoint), nil
	case grid.RecWork:
		w := &r.Work
		if w.Spec == nil || w.State == 0 || w.State > grid.WorkFinished {
			return nil, fmt.Errorf("record of attempt %s: %w: no spec or state %d", w.ID, ErrMalformed, w.State)
		}
		spec, err := specBytes(w.Spec)
		nodes, ranks, shares := putPlaces(w.Places)
		p := &pb.WorkValue{Spec: spec, Class: w.Class, Lease: putSpan(w.Lease), State: uint32(w.State),
			Result: putMaybe(w.Result), Stays: w.Stays, Asks: w.Asks, Members: putNodes(w.Members), Owner: putNode(w.Owner),
			Epoch: w.Epoch, Inputs: putFiles(w.Inputs), PlaceNodes: nodes, PlaceRanks: ranks,
			PlaceShares: shares, BeforeRanks: w.Before.Ranks, BeforeShares: w.Before.Shares,
			Option: uint32(w.Option), Assigned: []byte(w.Assigned), Evidence: []byte(w.Evidence), Changes: w.Changes}
		if h := w.HandedBack; h != nil {
			p.HandedBack, p.Puller = uint32(h.Why), putNode(h.Puller)
		}
		return p, err
	}
	return &pb.ClassValue{Mean: r.Class.Mean, Count: r.Class.Count, Spread: r.Class.Spread, Spreads: r.Class.Spreads}, nil
}

func putTaskRecord(t *grid.TaskRecord) (*pb.TaskValue, error) {
	if t.State == 0 || t.State > grid.Ended {
		return nil, fmt.Errorf("record of task %s: %w: state %d", t.ID, ErrBound, t.State)
	}
	p := &pb.TaskValue{Epoch: t.ID.Epoch, N: t.ID.N, State: uint32(t.State), Lost: t.Lost,
		Result: putMaybe(t.Result), Placed: t.Placed, Began: t.Began, Done: t.Done,
		Pulls: uint32(t.Pulls), Moves: uint32(t.Moves), Option: uint32(t.Option)}
	if !t.Worker.IsZero() {
		p.Worker = t.Worker[:]
	}
	if c := t.Backup; c != nil {
		p.Copy = &pb.CopyValue{Epoch: c.Epoch, N: c.N, Worker: putNode(c.Worker)}
	}
	return p, nil
}

func putMaybe(r *grid.Result) *pb.Result {
	if r == nil {
		return nil
	}
	return putResult(r)
}

// DecodeRecord decodes what AppendRecord wrote, into fresh memory, this version's or an earlier one's. A value of a
// newer version is ErrVersion with its number; a damaged one is ErrMalformed, ErrBound or ErrKind. The bounds of
// input from people and peers are not applied again: what was once accepted can always be read.
func DecodeRecord(key, value []byte) (*grid.Record, error) {
	if len(key) == 0 {
		return nil, fmt.Errorf("record: %w: no key", ErrMalformed)
	}
	value, err := recordVersions.read(grid.RecordKind(key[0]), value)
	if err != nil {
		return nil, err
	}
	r := &grid.Record{Kind: grid.RecordKind(key[0])}
	switch key = key[1:]; r.Kind {
	case grid.RecWork:
		err = getWorkRecord(key, value, &r.Work)
	case grid.RecRegister:
		err = getRegisterRecord(key, value, &r.Register)
	case grid.RecEntry:
		err = getEntryRecord(key, value, &r.Entry)
	case grid.RecTombstone:
		err = getTombstone(key, value, &r.Tombstone)
	case grid.RecCheckpoint:
		r.Checkpoint, err = getCheckpointRecord(key, value)
	case grid.RecClass:
		var p pb.ClassValue
		err = parse(value, &p)
		r.Class = grid.ClassRecord{Class: shown(key), Mean: p.Mean, Count: p.Count, Spread: p.Spread, Spreads: p.Spreads}
	default:
		err = fmt.Errorf("%w", ErrKind)
	}
	if err != nil {
		return nil, fmt.Errorf("record of kind %d: %w", r.Kind, err)
	}
	return r, nil
}

// NameRecord returns by its key alone what a record is of, as "task X"; "" if that is the key of no record.
func NameRecord(key []byte) (kind grid.RecordKind, name string) {
	if len(key) == 0 {
		return 0, ""
	}
	var err error
	var job grid.JobID
	var task grid.TaskID
	switch kind, key = grid.RecordKind(key[0]), key[1:]; kind {
	case grid.RecWork:
		if len(key) != AttemptSize {
			return 0, ""
		}
		var id grid.AttemptID
		id, err = attemptOf(key)
		name = fmt.Sprintf("attempt %v", id)
	case grid.RecRegister:
		err = getJob(key, &job)
		name = fmt.Sprintf("job %v", job)
	case grid.RecTombstone:
		err = getJob(key, &job)
		name = fmt.Sprintf("the ended job %v", job)
	case grid.RecEntry:
		err = getTask(key, &task)
		name = fmt.Sprintf("task %v", task)
	case grid.RecCheckpoint:
		err = getTask(key, &task)
		name = fmt.Sprintf("a checkpoint of task %v", task)
	case grid.RecClass:
		name = fmt.Sprintf("measurements of class %q", shown(key))
	default:
		return 0, ""
	}
	if err != nil {
		return 0, ""
	}
	return kind, name
}
