package wire

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"skep/grid"
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
	for _, r := range exampleRecords() {
		key, value, err := AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		line(fmt.Sprintf("record-%d-key", r.Kind), key)
		line(fmt.Sprintf("record-%d-value", r.Kind), value)
	}
	line("sealed-spec", []byte(exampleSealed(t).Sealed))
	line("hello", (&Hello{Version: 1, Kinds: 0x1fffe, Software: "skep", Boot: 7}).Append(nil))
	fmt.Fprintf(&out, "token %s\n", exampleToken())

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
