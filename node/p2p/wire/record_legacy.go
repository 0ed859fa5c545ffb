package wire

import (
	"fmt"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

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
