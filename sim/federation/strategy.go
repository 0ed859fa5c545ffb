package federation

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"skep/balance/waiting"
	"skep/grid"
)

// Strategy is how the broker ranks sites, and how much it lets wait at one.
type Strategy struct {
	name string
	rank func(b *broker, t *task, k int) float64 // of site k

	part   float64 // of the processors of a site that may wait there; +Inf = no bound
	beyond bool    // what was free does not count against part
	free   bool    // tasks are handed over to free processors only, and part means nothing
}

// ranks are those of [1, section 3.3], "random", by which each processor is as likely as any other, and "transfer",
// which adds up the times of a task's transfers and its wait.
var ranks = map[string]func(b *broker, t *task, k int) float64{
	"random": func(b *broker, _ *task, k int) float64 {
		return math.Log(1-b.chance.Float64()) / float64(b.adverts[k].Total)
	},
	"load": func(b *broker, _ *task, k int) float64 { return b.adverts[k].FreePart() },
	"ewt": func(b *broker, _ *task, k int) float64 {
		s := &b.adverts[k]
		return s.WaitRank(b.system.Penalty * s.Penalty(b.usual()))
	},
	"combined": func(b *broker, _ *task, k int) float64 {
		s := &b.adverts[k]
		return s.Rank(b.system.Penalty*s.Penalty(b.usual()), b.usual())
	},
	"datarank": func(b *broker, t *task, k int) float64 { return waiting.DataRank(b.links.to(t, k)) },
	"transfer": func(b *broker, t *task, k int) float64 {
		s := &b.adverts[k]
		return s.WaitRank(b.system.Penalty*s.Penalty(b.usual())) - waiting.TransferTime(b.links.size[:], b.links.to(t, k))
	},
}

// byData reports whether the ranks know of files.
func (s *Strategy) byData() bool { return s.name == "datarank" || s.name == "transfer" }

// ParseStrategy reads a strategy: the name of a rank and, after a colon, which part of its processors may wait at a
// site, as in ewt:0.1, or besides those that are free, as in ewt:0.1+free. "free" alone hands over to free processors
// only, and without a colon there is no bound.
func ParseStrategy(text string) (Strategy, error) {
	name, part, bound := strings.Cut(text, ":")
	st := Strategy{name: name, rank: ranks[name], part: math.Inf(1)}
	if st.rank == nil {
		return st, fmt.Errorf("strategy %.40q: is not known: want random, load, ewt, combined, datarank or transfer", name)
	}
	if part == "free" {
		st.free = true
		return st, nil
	}
	if bound {
		part, st.beyond = strings.CutSuffix(part, "+free")
		x, err := strconv.ParseFloat(part, 64)
		if err != nil || !(x >= 0 && x <= 1000) {
			return st, fmt.Errorf("strategy %.40q: %.40q: want free, or the part of its processors that may wait at a site, as "+
				"in ewt:0.1", text, part)
		}
		st.part = x
	}
	return st, nil
}

// admits reports whether a site may have one more task.
func (s *Strategy) admits(site *waiting.Site) bool {
	if s.free {
		return site.Free-site.Queued-site.Matched > 0
	}
	if s.beyond {
		return site.AdmitsBeyondFree(s.part)
	}
	return math.IsInf(s.part, 1) || site.Admits(s.part)
}

// broker hands tasks over to sites.
type broker struct {
	system   *System
	strategy Strategy
	chance   *grid.Rand
	adverts  []waiting.Site
	links    *links // nil = there are no files

	waiting []*task
	held    []*task // whose file no site can have, until the next measurement
}

// usual is the mean of the mean run times of the sites.
func (b *broker) usual() float64 {
	sum, n := 0.0, 0.0
	for k := range b.adverts {
		if m := b.adverts[k].MeanRun; m > 0 {
			sum, n = sum+m, n+1
		}
	}
	return sum / max(n, 1)
}

// match hands over what it can, in the order in which tasks came [1, section 3.3]. Among equal sites the first has it.
func (b *broker) match(give func(t *task, site int)) {
	kept := b.waiting[:0]
	for i, t := range b.waiting {
		best, rank, admitted := -1, math.Inf(-1), false
		for k := range b.adverts {
			if !b.strategy.admits(&b.adverts[k]) {
				continue
			}
			admitted = true
			if r := b.strategy.rank(b, t, k); best < 0 || r > rank {
				best, rank = k, r
			}
		}
		if !admitted { // for no other either
			kept = append(kept, b.waiting[i:]...)
			break
		}
		if b.strategy.byData() && b.system.Data.Unreachable == "wait" && !b.links.reachable(t) {
			b.held = append(b.held, t)
			continue
		}
		b.adverts[best].Matched++
		give(t, best)
	}
	b.waiting = kept
}
