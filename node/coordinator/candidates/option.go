package candidates

import (
	"skep/balance"
	"skep/grid"
)

// AskOptions appends what a node that is polled is asked of the options of a job.
func AskOptions(spec *grid.JobSpec, dst []grid.PollOption) []grid.PollOption {
	for i := range spec.Needs.Options {
		o := &spec.Needs.Options[i]
		dst = append(dst, grid.PollOption{Needs: o.Resources, Speedup: o.Speedup})
	}
	return dst
}

// Option is the number of the option as which a task is to run where it was chosen to: as the choice says, or the
// node's answer, or what else is known of the node. 0 = its job has none.
func (p *Poll) Option(now grid.Time, x balance.Choice, n *Need) uint8 {
	needs := &n.Spec.Needs
	if len(needs.Options) == 0 {
		return 0
	}
	if needs.Option(x.Option) != nil {
		return x.Option
	}
	if s := p.AnswerOf(x.Node); s != nil && needs.Option(s.Option) != nil {
		return s.Option
	}
	return n.Peers.OptionAt(now, x.Node, n.Spec, n.Level, n.Limit)
}
