package paper

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"skep/sim/gangs"
)

// A scenario of the world gangs is a setting with a size of the mesh, e1-life-one@600, or without: all sizes of its
// experiment. A replication is one series of that.

func readGangs(file string, b []byte) (*gangs.Setting, error) {
	s := &gangs.Setting{}
	if err := yaml.UnmarshalWithOptions(b, s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// series names one series of an experiment.
type series struct {
	setting string
	n       int
	seed    uint64
}

// gangs runs series. All policies are run in each.
func (w *work) gangs(ctx context.Context, x run, l length) (out []ran, err error) {
	name, size, one := strings.Cut(x.scenario, "@")
	s := w.study.gangs[name]
	sizes := s.Sizes()
	if one {
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("size %q: want a number, as in e1-life-one@600", size)
		}
		sizes = []int{n}
	}
	for _, policy := range x.policies {
		out = append(out, newRan(policy))
	}
	for k := range l.replications {
		var of []gangs.Figures
		for _, n := range sizes {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			id := series{name, n, w.options.Seed + uint64(k)}
			if w.series[id] == nil {
				w.series[id] = s.Run(n, id.seed)
			}
			of = append(of, w.series[id])
		}
		for p := range out {
			out[p].together(out[p].Policy, of)
		}
		w.did(1)
	}
	return out, nil
}

// together takes the figures of a policy for all sizes: counts are added up, and means weigh as many as were counted.
func (r *ran) together(policy string, of []gangs.Figures) {
	sum, weight := map[string]float64{}, map[string]float64{}
	for _, f := range of {
		for figure, x := range f[policy] {
			w := 1.0
			if completed, is := f[policy]["completed"]; is && figure == "degradation" {
				w = completed
			}
			sum[figure], weight[figure] = sum[figure]+w*x, weight[figure]+w
		}
	}
	for _, figure := range slices.Sorted(maps.Keys(sum)) {
		switch x := sum[figure]; {
		case figure == "completed" || figure == "unfinished" || figure == "comparable":
			r.take(figure, x)
		case weight[figure] > 0:
			r.take(figure, x/weight[figure])
		default:
			r.take(figure, math.NaN())
		}
	}
}
