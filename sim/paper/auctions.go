package paper

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"skep/sim/marketplace"
)

// market returns the system of a scenario, as in sp2-rd2@0.8: a file, and the load.
func (s *Study) market(scenario string) (*marketplace.System, error) {
	name, load, _ := strings.Cut(scenario, "@")
	if s.markets[name] == nil {
		return nil, fmt.Errorf("no system %q", name)
	}
	m := *s.markets[name]
	var err error
	if m.Load, err = strconv.ParseFloat(load, 64); err != nil {
		return nil, fmt.Errorf("load %q: want a number, as in sp2-rd2@0.8", load)
	}
	return &m, m.Check()
}

// auctions runs protocols on a market.
func (w *work) auctions(ctx context.Context, x run, l length) (out []ran, err error) {
	s, err := w.study.market(x.scenario)
	if err != nil {
		return nil, err
	}
	o := marketplace.DefaultOptions()
	o.Protocols, o.Replications, o.Measured, o.Seed = x.policies, l.replications, l.time, w.options.Seed
	size := w.study.auctionTasks(x, l)
	o.Progress = w.progress(size)
	report, err := marketplace.Run(ctx, s, o)
	w.done += size
	if err != nil {
		return nil, err
	}
	for _, result := range report.Results {
		r := newRan(result.Protocol)
		for _, x := range result.Samples {
			r.take("CT", x.CT)
			r.take("WCT", x.WCT)
			r.take("WCR", x.WCR)
			r.take("U", x.Utility)
			r.take("moves", x.Moves)
			r.take("messages", x.Messages)
		}
		out = append(out, r)
	}
	return out, nil
}

// auctionTasks is how many tasks arrive in the runs of a line, about.
func (s *Study) auctionTasks(x run, l length) float64 {
	m, err := s.market(x.scenario)
	if err != nil {
		return 0
	}
	return m.Rate() * l.time * float64(l.replications*len(x.policies))
}

// over is a figure of one run over that of another, replication by replication.
func (p *printed) over(run, other *ran) (measured, error) {
	figure, _, _ := strings.Cut(p.rest(), "/")
	a, b := run.figures[figure], other.figures[figure]
	if len(a) == 0 || len(b) == 0 {
		return measured{}, errNone
	}
	if p.kind() == "times" { // scenarios are of different chance, and may have run unequally often
		ratio := average(a) / average(b)
		return measured{mean: ratio, half: ratio * math.Hypot(relative(a), relative(b))}, nil
	}
	if len(a) != len(b) {
		return measured{}, errNone
	}
	gain, half := gainOver(a, b)
	return measured{mean: 1 - gain/100, half: half / 100}, nil
}

// relative is the half-width of a mean over the mean.
func relative(x []float64) float64 { return halfWidth(x) / average(x) }
