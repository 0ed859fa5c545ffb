package wire

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node/listing"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

// The bytes on the wire and on disk do not change by accident: nodes of other versions and old data folders depend
// on them.
func TestGoldenBytes(t *testing.T) {
	var out strings.Builder
	line := func(name string, b []byte) { fmt.Fprintf(&out, "%s %s\n", name, hex.EncodeToString(b)) }
	for k := grid.Kind(1); int(k) < grid.Kinds; k++ {
		line(k.String(), example(t, k))
	}
	line("accept-started", bytesOf(t, &grid.Message{Kind: grid.KindAccept, Started: true,
		Attempts: []grid.AttemptID{exampleAttempt(0)}}))
	line("beat-reports", bytesOf(t, &grid.Message{Kind: grid.KindBeat,
		Attempts: []grid.AttemptID{exampleAttempt(0), exampleAttempt(1)},
		Reports: []grid.Report{{Queued: true}, {At: 1, Said: true,
			Progress: grid.Progress{Done: 3, Total: 10, Text: "half way", Rejected: 2}}}}))
	line("beat-suspended", bytesOf(t, &grid.Message{Kind: grid.KindBeat, Attempts: []grid.AttemptID{exampleAttempt(0)},
		Reports: []grid.Report{{Suspended: true, Suspensions: &grid.Suspensions{Times: 2, Stood: 3 * time.Second,
			By: exampleJob(), Bid: 5000}}}}))
	line("beat-movable", bytesOf(t, &grid.Message{Kind: grid.KindBeat, Attempts: []grid.AttemptID{exampleAttempt(0)},
		Reports: []grid.Report{{Suspended: true, Movable: &grid.Movable{Wait: time.Minute, Ran: 9 * time.Second,
			Kept: 4 * time.Second}}}}))
	line("start-lease-places", bytesOf(t, &grid.Message{Kind: grid.KindStartLease, Order: 1,
		Attempts: []grid.AttemptID{exampleAttempt(0), exampleAttempt(1)},
		Reports:  []grid.Report{{At: 1, Queued: true, Place: 4}}}))
	sealed, err := Seal(testKey(1), exampleAd(testKey(1)))
	if err != nil {
		t.Fatal(err)
	}
	line("ad", sealed)
	placed := exampleAd(testKey(1))
	placed.Coord = grid.Coord{At: [3]float32{0.25, -0.5, 0.125}, Height: 0.0625, Error: 0.5}
	if sealed, err = Seal(testKey(1), placed); err != nil {
		t.Fatal(err)
	}
	line("ad-coordinate", sealed)
	counted := exampleAd(testKey(1))
	counted.Capacity.Counts, counted.Free.Counts, counted.Waits = "fpga=1,gpu=2", "gpu=1", "fpga=40"
	if sealed, err = Seal(testKey(1), counted); err != nil {
		t.Fatal(err)
	}
	line("ad-counts", sealed)
	for _, r := range exampleRecords() {
		key, value, err := AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		line(fmt.Sprintf("record-%d-key", r.Kind), key)
		line(fmt.Sprintf("record-%d-value", r.Kind), value)
	}
	line("sealed-spec", []byte(exampleSealed(t).Sealed))
	array, err := SealSpec(testKey(1), exampleJob(), exampleArray())
	if err != nil {
		t.Fatal(err)
	}
	line("sealed-spec-array", []byte(array.Sealed))
	line("sealed-spec-counts", []byte(exampleCounted(t).Sealed))
	line("sealed-spec-stdin", []byte(exampleStdin(t).Sealed))
	line("sealed-spec-terminal", []byte(exampleTerminal(t).Sealed))
	line("sealed-spec-after", []byte(exampleAfter(t).Sealed))
	line("sealed-spec-gang", []byte(exampleGang(t, nil).Sealed))
	search := exampleSearch()
	line("sealed-spec-gang-ports", []byte(sealedGang(t, grid.Gang{Ranks: 4, Ports: grid.Ports{80, 29500}}).Sealed))
	line("sealed-spec-gang-search", []byte(exampleGang(t, search).Sealed))
	search.Contract = &grid.Contract{Tolerance: 0.25, Window: 7, Moves: 2}
	line("sealed-spec-gang-contract", []byte(exampleGang(t, search).Sealed))
	line("hello", (&Hello{Version: 1, Kinds: 0x1fffe, Software: "skep", Boot: 7}).Append(nil))
	fmt.Fprintf(&out, "token %s\n", exampleToken())
	query, row := exampleJobQuery(), exampleJobRow()
	request, err := JobQueryRequest(&query)
	if err != nil {
		t.Fatal(err)
	}
	line("job-query", request)
	rows, err := AppendJobRows(nil, []listing.Row{row}, true)
	if err != nil {
		t.Fatal(err)
	}
	line("job-rows", rows)

	const file = "testdata/golden.txt"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, old := strings.Split(out.String(), "\n"), strings.Split(string(want), "\n")
	if len(got) != len(old) {
		t.Errorf("%d lines, want %d", len(got), len(old))
	}
	for i := range min(len(got), len(old)) {
		if got[i] != old[i] {
			t.Errorf("line %d changed:\n got %s\nwant %s", i+1, got[i], old[i])
		}
	}
}
