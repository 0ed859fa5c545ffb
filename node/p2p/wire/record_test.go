package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"skep/grid"
)

func genRecord(t *rapid.T) *grid.Record {
	j, spec := genSealed(t)
	var result *grid.Result
	if rapid.Bool().Draw(t, "has a result") {
		result = genResult(t)
	}
	switch r := (&grid.Record{Kind: grid.RecordKind(rapid.IntRange(3, 8).Draw(t, "kind"))}); r.Kind {
	case grid.RecEntry:
		r.Entry = grid.EntryRecord{Epoch: rapid.Uint32().Draw(t, "epoch"), Committed: rapid.Bool().Draw(t, "committed"),
			Held: rapid.Bool().Draw(t, "held")}
		r.Entry.TaskRecord = grid.TaskRecord{ID: genAttempt(t, j, grid.MaxCount),
			State:  grid.TaskState(rapid.IntRange(1, 4).Draw(t, "state")),
			Worker: array[grid.NodeID](t, "worker"), Lost: rapid.Int32().Draw(t, "lost"),
			Pulls: rapid.Uint8().Draw(t, "pulls"), Moves: rapid.Uint8().Draw(t, "moves"),
			Option: rapid.Uint8().Draw(t, "option"),
			Result: result,
			Placed: rapid.Int64().Draw(t, "placed"), Began: rapid.Int64().Draw(t, "began"), Done: rapid.Int64().Draw(t, "done")}
		if rapid.Bool().Draw(t, "copied") {
			r.Entry.Backup = &grid.BackupRecord{Attempt: genAttempt(t, j, 1).Attempt, Worker: array[grid.NodeID](t, "copy at")}
		}
		r.Entry.Round, r.Entry.Failures = rapid.Uint32().Draw(t, "round"), genFailures(t, j)
		if rapid.Bool().Draw(t, "open") {
			r.Entry.Open = &grid.Entry{Index: r.Entry.ID.Task.Index, Epoch: 2, Attempt: genAttempt(t, j, 1).Attempt,
				Result: genResult(t), Round: 3, Again: time.Second, Failures: genFailures(t, j), Done: 5}
			if rapid.Bool().Draw(t, "of offers") {
				r.Entry.Open.Offered = genOffered(t)
			}
		}
		return r
	case grid.RecWork:
		r.Work = grid.WorkRecord{ID: genAttempt(t, j, grid.MaxCount), Spec: spec, Class: genText.Draw(t, "class"),
			Lease: genSpan.Draw(t, "lease"), State: grid.WorkState(rapid.IntRange(1, 3).Draw(t, "state")), Result: result,
			Stays: rapid.Bool().Draw(t, "stays"), Asks: rapid.Bool().Draw(t, "asks"), Before: genDivision(t),
			Option: rapid.Uint8().Draw(t, "option"), Assigned: genSigned(t, grid.MaxProof),
			Evidence: genSigned(t, grid.MaxEvidence)}
		if rapid.Bool().Draw(t, "handed back") {
			r.Work.HandedBack = &grid.HandBack{Why: grid.Why(rapid.IntRange(1, grid.Whys-1).Draw(t, "why")),
				Puller: array[grid.NodeID](t, "puller")}
		}
		return r
	case grid.RecRegister:
		r.Register = grid.RegisterRecord{ID: j, Spec: spec, Members: []grid.NodeID{j.Origin},
			Submitted: rapid.Int64().Draw(t, "submitted"),
			Genesis:   genSigned(t, 64), Mandate: genSigned(t, grid.MaxMandate),
			Set: genMembership(t)}
		return r
	case grid.RecCheckpoint:
		r.Checkpoint = &grid.CheckpointRecord{ID: genAttempt(t, j, grid.MaxCount), Step: rapid.Uint64().Draw(t, "step"),
			Files: genFiles(t, 4), Shares: genDivision(t).Shares}
		return r
	case grid.RecTombstone:
		r.Tombstone = grid.TombstoneRecord{ID: j, Epoch: rapid.Uint32().Draw(t, "epoch"),
			Tasks: rapid.Uint32().Draw(t, "tasks"), Cancelled: rapid.Bool().Draw(t, "cancelled"),
			Members: [8]byte(rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "members")), Ended: rapid.Int64().Draw(t, "ended")}
		return r
	default:
		r.Class = grid.ClassRecord{Class: genText.Draw(t, "class"), Mean: rapid.Float64().Draw(t, "mean"),
			Count:  rapid.Float64().Draw(t, "count"),
			Spread: rapid.Float64().Draw(t, "spread"), Spreads: rapid.Float64().Draw(t, "spreads")}
		return r
	}
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genRecord(t)
		dst := make([]byte, 3, 200)
		key, value, err := AppendRecord(dst, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRecord(key, value)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
		key = append(key, 'x') // must not reach into the value
		if got, err = DecodeRecord(key[:len(key)-1], value); err != nil || got.Kind != r.Kind {
			t.Fatal(err)
		}
		r.Delete = true
		again, none, err := AppendRecord(nil, r)
		if err != nil || none != nil || !bytes.Equal(again, key[:len(key)-1]) {
			t.Fatalf("to delete: key %x, value %x, %v", again, none, err)
		}
	})
}

// Keys sort by kind, then as IDs do; a task has one record, whatever the attempt.
func TestRecordKeys(t *testing.T) {
	task := func(index, n uint32) grid.Record {
		a := exampleAttempt(index)
		a.N = n
		return grid.Record{Kind: grid.RecEntry,
			Entry: grid.EntryRecord{TaskRecord: grid.TaskRecord{ID: a, State: grid.Pending}}}
	}
	work := func(index, n uint32) grid.Record {
		a := exampleAttempt(index)
		a.N = n
		return grid.Record{Kind: grid.RecWork, Delete: true, Work: grid.WorkRecord{ID: a}}
	}
	key := func(r grid.Record) string {
		k, _, err := AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		return string(k)
	}
	order := []string{key(work(1, 1)), key(work(1, 300)), key(work(2, 1)), key(exampleRecords()[1]), key(task(1, 1)),
		key(task(2, 1)), key(task(256, 1))}
	for i := 1; i < len(order); i++ {
		if order[i-1] >= order[i] {
			t.Errorf("key %d is not before key %d", i-1, i)
		}
	}
	if key(task(1, 1)) != key(task(1, 2)) {
		t.Error("two attempts of a task have two records")
	}
}

func TestRecordErrors(t *testing.T) {
	key, value, err := AppendRecord(nil, &exampleRecords()[1])
	if err != nil {
		t.Fatal(err)
	}
	newer := append([]byte{recordVersion + 1}, value[1:]...)
	if _, err := DecodeRecord(key, newer); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "2") {
		t.Errorf("a newer version: %v", err)
	}
	for name, c := range map[string]struct{ key, value []byte }{
		"no key": {nil, value}, "no value": {key, nil}, "short key": {key[:9], value},
		"cut value":    {key, value[:len(value)-1]},
		"unknown kind": {append([]byte{9}, key[1:]...), value}, "empty": {key, []byte{recordVersion}},
	} {
		if _, err := DecodeRecord(c.key, c.value); err == nil || Reason(err) == "other" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, r := range map[string]grid.Record{
		"no kind": {}, "later kind": {Kind: 9}, "register without a spec": {Kind: grid.RecRegister},
		"work without a spec":   {Kind: grid.RecWork},
		"entry without a state": {Kind: grid.RecEntry},
	} {
		if _, _, err := AppendRecord(nil, &r); err == nil || Reason(err) == "other" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
