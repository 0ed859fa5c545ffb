package paper

import (
	"context"
	"fmt"
	"time"

	"skep/sim/gangs"
	"skep/sim/queueing"
	"skep/sim/spread"
)

// Options says how a study is run.
type Options struct {
	Full bool   // the lengths of the source, else short ones
	Seed uint64 // of all chance

	// Progress, if not nil, is called now and then, one call at a time, with the part that is done, from 0
	// to 1, by simulated time.
	Progress func(part float64)
}

// Report is what came of a study.
type Report struct {
	Study   string          `json:"study"`
	Title   string          `json:"title"`
	Source  string          `json:"source"`
	Full    bool            `json:"full"`
	Seed    uint64          `json:"seed"`
	Lines   []Line          `json:"numbers"`
	Counts  map[Verdict]int `json:"counts"`       // of the lines of systems as described
	Apart   Tally           `json:"counts_apart"` // of the others
	Curves  []Curve         `json:"curves"`
	Notes   []string        `json:"notes,omitempty"` // where the full form is not that of the source
	Seconds float64         `json:"seconds"`
}

// Tally counts verdicts by class.
type Tally map[Class]map[Verdict]int

// add puts lines to the report.
func (r *Report) add(lines []Line) {
	r.Lines = append(r.Lines, lines...)
	for _, l := range lines {
		if l.Class == Described {
			r.Counts[l.Verdict]++
			continue
		}
		if r.Apart[l.Class] == nil {
			r.Apart[l.Class] = map[Verdict]int{}
		}
		r.Apart[l.Class][l.Verdict]++
	}
}

// Unnamed is the number of departures that the folder does not name.
func (r *Report) Unnamed() (n int) {
	for k := range r.Lines {
		if l := &r.Lines[k]; l.Verdict == Departs && l.Since == "" {
			n++
		}
	}
	return n
}

// Run runs a study. When ctx ends early it returns ctx's error and a report in which what was not run says so.
func (s *Study) Run(ctx context.Context, o Options) (*Report, error) {
	if s.walks != nil {
		return s.runWalks(ctx, o)
	}
	began := time.Now()
	r := &Report{Study: s.Name, Title: s.Title, Source: s.Source, Full: o.Full, Seed: o.Seed,
		Counts: map[Verdict]int{}, Apart: Tally{}}
	w := &work{study: s, options: o, results: map[key]*ran{}, series: map[series]gangs.Figures{}}
	w.total = w.size()
	err := w.simulate(ctx, r)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	optima := map[key]*optimum{}
	var lines []Line
	var by []string
	for k := range s.numbers {
		p := &s.numbers[k]
		m, err := s.measure(p, w.results, optima)
		lines, by = append(lines, p.judge(m, err, o.Full)), append(by, p.label.by)
	}
	explain(lines, by)
	r.add(lines)
	r.Seconds = time.Since(began).Seconds()
	return r, ctx.Err()
}

// simulate does all runs and curves.
func (w *work) simulate(ctx context.Context, r *Report) error {
	for _, x := range w.study.runs {
		l := form(w.options.Full, x.lengths)
		if l.replications == 0 {
			continue
		}
		results, err := w.run(ctx, x, l)
		if err != nil {
			return fmt.Errorf("%s: %w", x.scenario, err)
		}
		for k := range results {
			w.results[key{x.scenario, results[k].Policy}] = &results[k]
		}
		if x.note != "" && w.options.Full {
			r.Notes = append(r.Notes, x.scenario+": "+x.note)
		}
	}
	for k := range w.study.curves {
		c := &w.study.curves[k]
		out := Curve{Name: c.name, Title: c.title, X: c.x}
		for _, x := range form(w.options.Full, c.values) {
			if w.study.World == "brokers" { // of runs that are there already
				out.add(x, w.at(c, x))
				continue
			}
			results, err := w.system(ctx, c.at(w.study.systems[c.scenario], x), c.policies, form(w.options.Full, c.lengths))
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			out.add(x, results)
		}
		r.Curves = append(r.Curves, out)
	}
	for k := range w.study.drawn {
		r.Curves = append(r.Curves, w.study.drawn[k].draw(nodesOf, spread.Farthest,
			func(k key, figure string) (measured, error) {
				if w.results[k] == nil {
					return measured{}, errNone
				}
				return w.results[k].figure(figure)
			}))
	}
	return nil
}

// run runs a line of runs.csv.
func (w *work) run(ctx context.Context, x run, l length) (out []ran, err error) {
	if w.study.World == "brokers" {
		return w.grid(ctx, x, l)
	}
	if w.study.World == "spread" {
		return w.spread(ctx, x, l)
	}
	if w.study.World == "bags" {
		return w.bags(ctx, x, l)
	}
	if w.study.World == "market" {
		return w.auctions(ctx, x, l)
	}
	if w.study.World == "gangs" {
		return w.gangs(ctx, x, l)
	}
	if w.study.World == "reallocation" {
		return w.reallocations(ctx, x, l)
	}
	if w.study.World == "recovery" {
		return w.recoveries(ctx, x, l)
	}
	if w.study.World == "federation" {
		return w.federations(ctx, x, l)
	}
	results, err := w.system(ctx, w.study.systems[x.scenario], x.policies, l)
	for _, r := range results {
		out = append(out, ran{Result: r})
	}
	return out, err
}

// ran is what came of a run: of grids with the rate at which the first resource has no time left, too.
type ran struct {
	queueing.Result
	limit  measured
	limits []float64 // of each replication

	figures map[string][]float64 // of all worlds but queueing systems and brokers, one for each replication
}

// newRan has no figures yet.
func newRan(policy string) ran {
	return ran{Result: queueing.Result{Policy: policy, Stable: true}, figures: map[string][]float64{}}
}

// system runs one. What is interrupted gives no results, since those of a few replications look like those of all.
func (w *work) system(ctx context.Context, s *queueing.System, policies []string, l length) ([]queueing.Result, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	o := queueing.Options{Policies: policies, Time: l.time, Replications: l.replications, Seed: w.options.Seed}
	size := tasks(s, policies, l)
	o.Progress = w.progress(size)
	report, err := queueing.Run(ctx, s, o)
	w.done += size
	if err != nil {
		return nil, err
	}
	return report.Results, nil
}
