package history

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skep/grid"
)

// A task's history is as recorded: the first third and the newest entries if there were too many.
func TestTracesRoundTrip(t *testing.T) {
	entry := rapid.Custom(func(t *rapid.T) grid.Trace {
		return grid.Trace{
			At:      grid.Time(rapid.Int64().Draw(t, "at")),
			What:    grid.TraceKind(rapid.IntRange(1, int(grid.TraceEnded)).Draw(t, "what")),
			Node:    grid.NodeID{rapid.SampledFrom([]byte{0, 1, 2}).Draw(t, "node")},
			Refusal: grid.Refusal{Why: grid.Why(rapid.IntRange(0, 17).Draw(t, "why")), Detail: rapid.String().Draw(t, "detail")},
			ECT:     time.Duration(rapid.Int64().Draw(t, "ect")),
			News:    time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "news")),
			Asked:   rapid.Int32().Draw(t, "asked"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		var task History
		var buffer []byte
		var want []grid.Trace
		for range rapid.IntRange(0, 2*Max).Draw(t, "entries") {
			tr := entry.Draw(t, "entry")
			buffer = task.Add(&tr, buffer)
			if want = append(want, tr); len(want) > Max {
				want = slices.Delete(want, Max/3, Max/3+1)
			}
			if got := task.Last(); got != tr {
				t.Fatalf("the newest is %+v, want %+v", got, tr)
			}
		}
		if got := task.List(); !slices.Equal(got, want) {
			t.Fatalf("told %+v, want %+v", got, want)
		}
	})
}
