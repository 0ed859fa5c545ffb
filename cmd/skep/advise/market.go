package advise

import (
	"math"
	"strings"

	"skep/balance/market/advice"
	"skep/sim/marketplace"
)

// Market advises for a simulated market.
func Market(s *marketplace.System, purpose advice.Word, file string) *Report {
	fastest := 1.0
	if s.Servers.Ratio < 1 && s.Servers.Count > 1 {
		fastest = (2 - s.Servers.Ratio) / s.Servers.Ratio
	}
	m := &advice.Measured{Servers: s.Servers.Count, Fastest: fastest, Load: s.Load, Background: s.Background.Share,
		Whole: math.Min(1, s.Background.Units/s.Servers.Units), Delay: s.Delay, Burst: float64(s.Tasks.Burst),
		Spread: s.Tasks.Spread, Bids: s.Tasks.Weights[1] / s.Tasks.Weights[0], Purpose: purpose}
	if s.Background.Share == 0 {
		m.Whole = math.NaN()
	}
	m.Deadline = s.Tasks.Factor
	if s.Tasks.Slow1 > 0 {
		m.Deadline, m.Worthless = s.Tasks.Slow1, (s.Tasks.Slow2[0]+s.Tasks.Slow2[1])/2
	}
	if m.Deadline == 0 {
		m.Deadline = math.NaN()
	}
	return newReport(m, nil, func(r *advice.Row) (string, []string) {
		var all []string
		for _, rank := range r.Ranks {
			all = append(all, rank...)
		}
		return r.Ranks[0][0], []string{"skep sim market " + file + " --protocol " + strings.Join(all, ",")}
	})
}
