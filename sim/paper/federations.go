package paper

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"skep/sim/federation"
)

// A scenario of the world federation is a system at a load, sites@0.95; the time of its lengths is in seconds. All
// policies of a replication have the same tasks.

// federations runs brokers.
func (w *work) federations(ctx context.Context, x run, l length) (out []ran, err error) {
	name, text, _ := strings.Cut(x.scenario, "@")
	load, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("load %q: want a number, as in sites@0.95", text)
	}
	var strategies []federation.Strategy
	for _, policy := range x.policies {
		st, err := federation.ParseStrategy(policy)
		if err != nil {
			return nil, err
		}
		strategies, out = append(strategies, st), append(out, newRan(policy))
	}
	size := handedOver(x, l)
	experiments, err := w.study.federations[name].Run(ctx, strategies, load, l.time, w.options.Seed, l.replications,
		w.progress(size))
	w.done += size
	if experiments == nil {
		if err == nil {
			err = ctx.Err()
		}
		return nil, err
	}
	for _, e := range experiments {
		for k, f := range e {
			out[k].take("wait", f.Wait)
			out[k].take("utilisation", f.Utilisation)
			out[k].take("idle", f.Idle)
			out[k].take("uneven", f.Uneven)
			out[k].take("queued", f.Queued)
			out[k].take("flood", f.Flood)
			out[k].take("ewt_error", f.EstimateError)
			out[k].take("advert_error", f.AdvertError)
			out[k].take("errors", f.Errors)
			out[k].take("store_errors", f.StoreErrors)
			out[k].take("held", f.Held)
		}
	}
	return out, nil
}

// handedOver is how much work a line is: the time by the number of policies.
func handedOver(x run, l length) float64 { return l.time * float64(l.replications*len(x.policies)) }
