package sim

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// BenchmarkStepBars measures the allocations of a step of the real node.
func BenchmarkStepBars(b *testing.B) {
	b.Run("trace", benchTrace)
}

func report(what string, got float64, unit, bar string, pass bool) {
	verdict := "pass"
	if !pass {
		verdict = "MISS"
	}
	fmt.Printf("bar: %-58s %10.3f %-6s bar %-9s %s\n", what, got, unit, bar, verdict)
}

// benchTrace feeds a node the polls, digests and timers that it received in a busy grid of 20, and measures those
// after the first quarter, when its tables have grown.
func benchTrace(b *testing.B) {
	const want, span = 100_000, 5 * time.Hour
	w, err := New(benchGrid(20, span))
	if err != nil {
		b.Fatal(err)
	}
	all, err := RecordTrace(w, 0, 4*want, span)
	if err != nil {
		b.Fatal(err)
	}
	cfg, wall := w.NodeConfig(0)
	n, err := node.New(cfg, wall)
	if err != nil {
		b.Fatal(err)
	}
	var fx grid.Effects
	var before, after runtime.MemStats
	counted, bytes, ads, mallocs, warm := 0, uint64(0), uint64(0), uint64(0), len(all)/4
	for i := 0; i < len(all) && counted < want; {
		j := i // a stretch of events of one sort, so that memory is read between stretches only
		for j < len(all) && plain(all[j].Event) == plain(all[i].Event) && own(all[j].Event) == own(all[i].Event) {
			j++
		}
		measured := i >= warm && plain(all[i].Event)
		if measured {
			runtime.ReadMemStats(&before)
		}
		for _, e := range all[i:j] {
			fx.Reset()
			n.Step(e.Now, e.Event, &fx)
		}
		if measured {
			runtime.ReadMemStats(&after)
			if own(all[i].Event) {
				ads += after.TotalAlloc - before.TotalAlloc
			}
			counted, bytes, mallocs = counted+j-i, bytes+after.TotalAlloc-before.TotalAlloc, mallocs+after.Mallocs-before.Mallocs
		}
		i = j
	}
	per := float64(bytes) / float64(max(counted, 1))
	report(fmt.Sprintf("Step, a trace of %d polls, digests and timers", counted), per, "B/ev", "0", per == 0 &&
		counted >= want)
	report("its allocations, of each 1,000 events", 1000*float64(mallocs)/float64(max(counted, 1)), "", "reported", true)
	report("its bytes but for new ads of its own, which others keep", float64(bytes-ads)/float64(max(counted, 1)), "B/ev",
		"reported", true)
}

// plain reports whether an event is a poll, a digest or a timer.
func plain(ev *grid.Event) bool {
	switch ev.Kind {
	case grid.EvWake:
		return true
	case grid.EvMessage:
		return ev.Msg.Kind == grid.KindPoll || ev.Msg.Kind == grid.KindDigest
	}
	return false
}

// own reports whether an event is a timer at which a node may publish a new ad.
func own(ev *grid.Event) bool {
	return ev.Kind == grid.EvWake && (ev.Timer.Kind == grid.TimerAd || ev.Timer.Kind == grid.TimerRefresh)
}
