package wire

import (
	"time"

	"pgregory.net/rapid"

	"skep/grid"
)

// genReports draws reports about some of so many attempts.
func genReports(t *rapid.T, attempts int) (all []grid.Report) {
	for at := range attempts {
		if !rapid.Bool().Draw(t, "reported") {
			continue
		}
		queued := rapid.Bool().Draw(t, "queued")
		r := grid.Report{At: at, Queued: queued, Suspended: !queued && rapid.Bool().Draw(t, "suspended"),
			Said: rapid.Bool().Draw(t, "said"), Place: rapid.Uint32Range(0, grid.MaxPlace).Draw(t, "place"),
			Progress: grid.Progress{
				Done:  rapid.Float64Range(0, grid.MaxProgress).Draw(t, "done"),
				Total: rapid.Float64Range(0, grid.MaxProgress).Draw(t, "total"), Text: genText.Draw(t, "text"),
				Rejected: rapid.Uint32().Draw(t, "rejected")}}
		if rapid.Bool().Draw(t, "was suspended") {
			r.Suspensions = &grid.Suspensions{Times: rapid.Uint32Min(1).Draw(t, "times"), By: genJob(t),
				Stood: time.Duration(rapid.Int64Range(0, int64(grid.MaxTimeout)).Draw(t, "stood")),
				Bid:   grid.Bid(rapid.Int32Range(1, int32(grid.MaxBid)).Draw(t, "bid"))}
		}
		if !queued && rapid.Bool().Draw(t, "movable") {
			ran := rapid.Int64Range(0, int64(grid.MaxTimeout)).Draw(t, "ran")
			r.Movable = &grid.Movable{Wait: time.Duration(rapid.Int64Range(0, int64(grid.MaxTimeout)).Draw(t, "wait")),
				Ran: time.Duration(ran), Kept: time.Duration(rapid.Int64Range(0, ran).Draw(t, "kept"))}
		}
		all = append(all, r)
	}
	return all
}
