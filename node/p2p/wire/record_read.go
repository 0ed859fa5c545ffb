package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

func readTaskRecord(key []byte, p *pb.TaskValue, t *grid.TaskRecord) error {
	t.ID.Epoch, t.ID.N, t.State, t.Lost = p.Epoch, p.N, grid.TaskState(p.State), p.Lost
	t.Placed, t.Began, t.Done, t.Pulls = p.Placed, p.Began, p.Done, uint8(min(p.Pulls, math.MaxUint8))
	t.Moves, t.Option = uint8(min(p.Moves, math.MaxUint8)), getOption(p.Option)
	if p.State == 0 || p.State > uint32(grid.Ended) {
		return fmt.Errorf("state %d: %w: want 1 to %d", p.State, ErrBound, grid.Ended)
	}
	if n := len(p.Worker); n != 0 && n != nodeSize {
		return fmt.Errorf("worker: %w: %d bytes, want %d", ErrBound, n, nodeSize)
	}
	copy(t.Worker[:], p.Worker)
	if err := getTask(key, &t.ID.Task); err != nil {
		return err
	}
	if c := p.Copy; c != nil {
		t.Backup = &grid.BackupRecord{Attempt: grid.Attempt{Epoch: c.Epoch, N: c.N}}
		if err := getNode("copy.worker", c.Worker, &t.Backup.Worker); err != nil {
			return err
		}
	}
	var err error
	t.Result, err = getMaybe(p.Result)
	return err
}

func getWorkRecord(key, value []byte, w *grid.WorkRecord) error {
	var p pb.WorkValue
	if err := parse(value, &p); err != nil {
		return err
	}
	if len(key) != AttemptSize {
		return fmt.Errorf("attempt ID: %w: %d bytes, want %d", ErrMalformed, len(key), AttemptSize)
	}
	if p.State == 0 || p.State > uint32(grid.WorkFinished) {
		return fmt.Errorf("state %d: %w: want 1 to %d", p.State, ErrBound, grid.WorkFinished)
	}
	w.Class, w.State, w.Assigned = cleanText(p.Class), grid.WorkState(p.State), string(p.Assigned)
	w.Evidence = string(p.Evidence)
	var err error
	w.ID, err = attemptOf(key)
	if err == nil {
		w.Lease, err = getSpan("lease", p.Lease)
	}
	if err == nil {
		w.Spec, err = readSpec(p.Spec)
	}
	if err == nil {
		w.Result, err = getMaybe(p.Result)
	}
	if err == nil {
		w.Changes = p.Changes
		w.Members, err = getMembers(nil, p.Members)
	}
	if err == nil {
		err = getNode("owner", p.Owner, &w.Owner)
	}
	if err == nil {
		w.Inputs, err = getFiles(p.Inputs)
	}
	if err == nil {
		w.Places, err = getPlaces(p.PlaceNodes, p.PlaceRanks, p.PlaceShares)
	}
	if err == nil && p.HandedBack > 0 {
		w.HandedBack = &grid.HandBack{Why: grid.Why(min(p.HandedBack, math.MaxUint8))}
		err = getNode("puller", p.Puller, &w.HandedBack.Puller)
	}
	w.Epoch, w.Stays, w.Asks, w.Option = p.Epoch, p.Stays, p.Asks, getOption(p.Option)
	w.Before = grid.Division{Ranks: p.BeforeRanks, Shares: p.BeforeShares}
	return err
}

// attemptOf returns the attempt of a key of AttemptSize.
func attemptOf(key []byte) (id grid.AttemptID, err error) {
	id.Epoch = binary.BigEndian.Uint32(key[taskSize:])
	id.N = binary.BigEndian.Uint32(key[taskSize+4:])
	return id, getTask(key[:taskSize], &id.Task)
}

func getTask(key []byte, t *grid.TaskID) error {
	if len(key) != taskSize {
		return fmt.Errorf("task ID: %w: %d bytes, want %d", ErrMalformed, len(key), taskSize)
	}
	t.Index = binary.BigEndian.Uint32(key[jobSize:])
	return getJob(key[:jobSize], &t.Job)
}

func getMaybe(p *pb.Result) (*grid.Result, error) {
	if p == nil {
		return nil, nil
	}
	return getResult(p)
}

// Kinds of records that store format 1 had beside those of today.
const (
	legacyJob  = 1 // a job submitted here that no other node kept
	legacyTask = 2 // a task of such a job
)

// Legacy reports whether a key is that of a record which UpgradeRecord replaces.
func Legacy(key []byte) bool { return len(key) > 0 && (key[0] == legacyJob || key[0] == legacyTask) }

// UpgradeRecord decodes a record whose key is Legacy and appends what replaces it to dst: the register of a job that
// its origin alone keeps, the entry of the job's cancellation, the entry of a task. Its errors are those of
// DecodeRecord.
func UpgradeRecord(dst []grid.Record, key, value []byte) ([]grid.Record, error) {
	if !Legacy(key) {
		return dst, fmt.Errorf("record: %w", ErrKind)
	}
	kind := key[0]
	value, err := recordVersions.read(grid.RecordKind(kind), value)
	if err == nil && kind == legacyJob {
		dst, err = upgradeJob(dst, key[1:], value)
	} else if err == nil {
		dst, err = upgradeTask(dst, key[1:], value)
	}
	if err != nil {
		return dst, fmt.Errorf("record of kind %d: %w", kind, err)
	}
	return dst, nil
}

func upgradeJob(dst []grid.Record, key, value []byte) ([]grid.Record, error) {
	var p pb.JobValue
	if err := parse(value, &p); err != nil {
		return dst, err
	}
	var id grid.JobID
	if err := getJob(key, &id); err != nil {
		return dst, err
	}
	spec, err := readSpec(p.Spec)
	if err != nil {
		return dst, err
	}
	dst = append(dst, grid.Record{Kind: grid.RecRegister, Register: grid.SoleRegister(id, spec, p.Submitted)})
	if p.Cancelled {
		t := grid.TaskRecord{ID: grid.AttemptID{Task: grid.TaskID{Job: id, Index: spec.Count}}, State: grid.Ended}
		dst = append(dst, grid.Record{Kind: grid.RecEntry, Entry: grid.SoleEntry(&t)})
	}
	return dst, nil
}

func upgradeTask(dst []grid.Record, key, value []byte) ([]grid.Record, error) {
	var p pb.TaskValue
	if err := parse(value, &p); err != nil {
		return dst, err
	}
	var t grid.TaskRecord
	if err := readTaskRecord(key, &p, &t); err != nil {
		return dst, err
	}
	return append(dst, grid.Record{Kind: grid.RecEntry, Entry: grid.SoleEntry(&t)}), nil
}
