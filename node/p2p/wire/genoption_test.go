package wire

import (
	"fmt"

	"pgregory.net/rapid"

	"skep/grid"
)

// genOptions gives needs up to three options.
func genOptions(t *rapid.T, n *grid.Needs) {
	var all []grid.Option
	for i := range rapid.IntRange(0, 3).Draw(t, "options") {
		o := grid.Option{Resources: grid.Resources{CPU: grid.CPU * grid.MilliCPU(rapid.IntRange(1, 64).Draw(t, "cores")),
			Memory: grid.Bytes(rapid.Int64Range(0, grid.MaxMemory).Draw(t, "memory"))},
			Speedup: rapid.Float64Range(0.01, 100).Draw(t, "speedup"), Value: rapid.Float64Range(0.01, 100).Draw(t, "value")}
		if rapid.Bool().Draw(t, "gpu") {
			o.Counts = "gpu=2"
		}
		if rapid.Bool().Draw(t, "labelled") {
			o.Labels = []grid.LabelNeed{{Key: fmt.Sprint("option-", i), Values: []string{"a", "b"}}}
		}
		all = append(all, o)
	}
	n.SetOptions(all)
}

// genOption draws the number of an option of a job; 0 if it has none.
func genOption(t *rapid.T, s *grid.JobSpec) uint8 {
	if len(s.Needs.Options) == 0 {
		return 0
	}
	return uint8(rapid.IntRange(1, len(s.Needs.Options)).Draw(t, "option"))
}

func genPollOptions(t *rapid.T) (all []grid.PollOption) {
	var n grid.Needs
	genOptions(t, &n)
	for i := range n.Options {
		all = append(all, grid.PollOption{Needs: n.Options[i].Resources, Speedup: n.Options[i].Speedup})
	}
	return all
}

func genOptionStates(t *rapid.T) (all []grid.OptionState) {
	for range rapid.IntRange(0, grid.MaxOptions).Draw(t, "options") {
		all = append(all, grid.OptionState{ECT: genSpan.Draw(t, "ect"), Ready: genSpan.Draw(t, "backlog"),
			Why: genWhy.Draw(t, "why")})
	}
	return all
}
