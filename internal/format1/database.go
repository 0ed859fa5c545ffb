package format1

import (
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/node/p2p/wire"
)

// Job is a job that its origin alone keeps, with those of its tasks that have a record.
type Job struct {
	ID        grid.JobID
	Spec      *grid.JobSpec // nil = the job has no record, only its tasks
	Submitted int64         // Unix nanoseconds
	Cancelled bool
	Tasks     []grid.TaskRecord
}

// Kinds of records that today's grid has no more.
const (
	kindJob  = 1
	kindTask = 2
)

// valueVersion is the first byte of every value.
const valueVersion = 1

// Fields of today's messages that hold those of format 1, and fields of the latter.
const (
	registerSpec = 1 // a JobSpec
	entryTask    = 1 // a TaskValue

	jobSpec, jobSubmitted, jobCancelled = 1, 2, 3
)

// record returns the key and value of the job's record.
func (j *Job) record() (key, value []byte, err error) {
	r := grid.Record{Kind: grid.RecRegister, Register: grid.SoleRegister(j.ID, j.Spec, j.Submitted)}
	key, today, err := wire.AppendRecord(nil, &r)
	if err != nil {
		return nil, nil, err
	}
	spec, err := bytesField(today[1:], registerSpec)
	if err != nil {
		return nil, nil, err
	}
	key[0] = kindJob
	value = protowire.AppendTag([]byte{valueVersion}, jobSpec, protowire.BytesType)
	value = protowire.AppendBytes(value, spec)
	value = protowire.AppendTag(value, jobSubmitted, protowire.VarintType)
	value = protowire.AppendVarint(value, uint64(j.Submitted))
	if j.Cancelled {
		value = protowire.AppendTag(value, jobCancelled, protowire.VarintType)
		value = protowire.AppendVarint(value, 1)
	}
	return key, value, nil
}

// taskRecord returns the key and value of a task's record.
func taskRecord(t *grid.TaskRecord) (key, value []byte, err error) {
	key, today, err := wire.AppendRecord(nil, &grid.Record{Kind: grid.RecEntry, Entry: grid.EntryRecord{TaskRecord: *t}})
	if err != nil {
		return nil, nil, err
	}
	task, err := bytesField(today[1:], entryTask)
	if err != nil {
		return nil, nil, err
	}
	key[0] = kindTask
	return key, append([]byte{valueVersion}, task...), nil
}

// bytesField returns a field of an encoded message.
func bytesField(b []byte, want protowire.Number) ([]byte, error) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		if number == want && kind == protowire.BytesType {
			v, n := protowire.ConsumeBytes(b)
			return v, protowire.ParseError(min(n, 0))
		}
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
	}
	return nil, fmt.Errorf("the message has no field %d", want)
}

// Write creates a database of format 1 at a path where none is, for a node that has started boot times. others are of
// kinds that have not changed.
func Write(path string, owner grid.NodeID, boot uint64, jobs []Job, others ...grid.Record) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucket([]byte("meta"))
		records, err2 := tx.CreateBucket([]byte("records"))
		_, err3 := tx.CreateBucket([]byte("data"))
		if err := errors.Join(err, err2, err3); err != nil {
			return err
		}
		number := func(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
		if boot > 0 {
			err = errors.Join(meta.Put([]byte("owner"), owner[:]), meta.Put([]byte("boot"), number(boot)))
		}
		return errors.Join(err, meta.Put([]byte("format"), number(1)), putAll(records, jobs, others))
	})
	return errors.Join(err, db.Close())
}

func putAll(b *bbolt.Bucket, jobs []Job, others []grid.Record) error {
	put := func(key, value []byte, err error) error {
		if err == nil {
			err = b.Put(key, value)
		}
		return err
	}
	for i := range jobs {
		j := &jobs[i]
		if j.Spec != nil {
			if err := put(j.record()); err != nil {
				return err
			}
		}
		for k := range j.Tasks {
			if err := put(taskRecord(&j.Tasks[k])); err != nil {
				return err
			}
		}
	}
	for i := range others {
		if err := put(wire.AppendRecord(nil, &others[i])); err != nil {
			return err
		}
	}
	return nil
}
