package format1

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/p2p/wire"
)

// Records that the last version has written are written again byte for byte.
func TestWritesAsTheLastVersionDid(t *testing.T) {
	text, err := os.ReadFile("../../node/p2p/wire/testdata/legacy.txt")
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
	compare := func(what string, key, value []byte, err error, want [][]byte) {
		t.Helper()
		if err != nil || !bytes.Equal(key, want[0]) || !bytes.Equal(value, want[1]) {
			t.Errorf("%s: %v\nkey %x\nvalue %x\nwant %x", what, err, key, value, want)
		}
	}
	job, err := wire.UpgradeRecord(nil, all[0], all[1])
	if err != nil {
		t.Fatal(err)
	}
	g := job[0].Register
	key, value, err := (&Job{ID: g.ID, Spec: g.Spec, Submitted: g.Submitted, Cancelled: len(job) > 1}).record()
	compare("job", key, value, err, all[:2])
	task, err := wire.UpgradeRecord(nil, all[2], all[3])
	if err != nil {
		t.Fatal(err)
	}
	key, value, err = taskRecord(&task[0].Entry.TaskRecord)
	compare("task", key, value, err, all[2:])
	if job[0].Kind != grid.RecRegister || task[0].Kind != grid.RecEntry {
		t.Error("other kinds of records")
	}
}
