package wire

import (
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skep/grid"
)

// legacyRecords returns what store format 1 held of one job and one of its tasks, as that version wrote it.
func legacyRecords(t testing.TB) (jobKey, job, taskKey, task []byte) {
	text, err := os.ReadFile("testdata/legacy.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for line := range strings.Lines(string(text)) {
		_, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all[0], all[1], all[2], all[3]
}

// A job that no other node kept becomes one with a register of one member, its cancellation an entry behind the last
// task, and each of its tasks an entry; what has ended is committed.
func TestUpgradeRecord(t *testing.T) {
	jobKey, job, taskKey, task := legacyRecords(t)
	got, err := UpgradeRecord(nil, jobKey, job)
	if err == nil {
		got, err = UpgradeRecord(got, taskKey, task)
	}
	if err != nil {
		t.Fatal(err)
	}
	id, spec := exampleJob(), exampleSpec()
	end := grid.TaskRecord{ID: exampleAttempt(7), State: grid.Ended, Worker: nodeOf(testKey(5)), Lost: 1,
		Result: exampleResult(),
		Placed: 11, Began: 12, Done: 13}
	cancelled := grid.EntryRecord{Epoch: 1, Committed: true, Held: true}
	cancelled.ID.Task, cancelled.State = grid.TaskID{Job: id, Index: spec.Count}, grid.Ended
	want := []grid.Record{
		{Kind: grid.RecRegister, Register: grid.RegisterRecord{ID: id, Spec: spec, Members: []grid.NodeID{id.Origin},
			Submitted: 1234567890123456789, Promised: 1, VotedFor: id.Origin, Epoch: 1, Owner: id.Origin, Held: true}},
		{Kind: grid.RecEntry, Entry: cancelled},
		{Kind: grid.RecEntry, Entry: grid.EntryRecord{TaskRecord: end, Epoch: 1, Committed: true, Held: true}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestUpgradeRecordErrors(t *testing.T) {
	jobKey, job, taskKey, task := legacyRecords(t)
	later := append([]byte{recordVersion + 1}, job[1:]...)
	for name, c := range map[string]struct {
		key, value []byte
		want       error
	}{
		"no key":          {nil, job, ErrKind},
		"kind of today":   {append([]byte{byte(grid.RecEntry)}, taskKey[1:]...), task, ErrKind},
		"no value":        {jobKey, nil, ErrMalformed},
		"cut job":         {jobKey, job[:len(job)-3], ErrMalformed},
		"cut key":         {taskKey[:9], task, ErrMalformed},
		"later version":   {jobKey, later, ErrVersion},
		"job without one": {jobKey, []byte{recordVersion}, ErrMalformed},
	} {
		if got, err := UpgradeRecord(nil, c.key, c.value); !errors.Is(err, c.want) || len(got) != 0 {
			t.Errorf("%s: %d records, %v: want %v", name, len(got), err, c.want)
		}
	}
	if _, err := DecodeRecord(jobKey, job); !errors.Is(err, ErrKind) {
		t.Errorf("decoded as a record of today: %v", err)
	}
}
