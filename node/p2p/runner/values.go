package runner

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"skep/exec/units"
	"skep/grid"
)

// variables returns the environment variables that describe a task to itself: its values, and those of Skep.
func variables(self grid.NodeID, spec *grid.JobSpec, id grid.AttemptID, values []grid.Var) []grid.Var {
	vars := append(make([]grid.Var, 0, len(values)+9), values...)
	if _, given := lookup(values, grid.IndexVariable); !given {
		index := strconv.FormatUint(uint64(id.Task.Index), 10)
		vars = append(vars, grid.Var{Name: grid.IndexVariable, Value: index})
	}
	if option := spec.Needs.Chosen; option > 0 {
		vars = append(vars, grid.Var{Name: grid.OptionVariable, Value: strconv.Itoa(int(option) - 1)})
	}
	return append(vars,
		grid.Var{Name: "SKEP_JOB", Value: id.Task.Job.String()},
		grid.Var{Name: "SKEP_TASK", Value: id.Task.String()},
		grid.Var{Name: "SKEP_COUNT", Value: strconv.FormatUint(uint64(spec.TasksOf(id.Attempt)), 10)},
		grid.Var{Name: "SKEP_ATTEMPT", Value: id.Attempt.String()},
		grid.Var{Name: "SKEP_CPUS", Value: strconv.Itoa(units.Threads(spec.Needs.CPU))},
		grid.Var{Name: "SKEP_NODE", Value: self.String()},
		grid.Var{Name: "SKEP_CLASS", Value: grid.ClassOf(spec)})
}

// rankVariables describe a rank of a gang to itself, as NAME=VALUE; none for a task that is no rank.
func rankVariables(s grid.Start) []string {
	if !s.Spec.IsGang() {
		return nil
	}
	number := func(name string, n uint32) string { return name + "=" + strconv.FormatUint(uint64(n), 10) }
	vars := []string{number(grid.RankVariable, s.Attempt.Task.Index),
		number(grid.WorldSizeVariable, s.Spec.Gang.RanksOf(s.Attempt.Attempt)),
		number(grid.LocalRankVariable, s.Local)}
	if shares := grid.SharesOf(s.Places); shares != "" {
		vars = append(vars, grid.SharesVariable+"="+shares)
	}
	if b := &s.Before; b.Ranks > 0 {
		vars = append(vars, number(grid.CheckpointRanksVariable, b.Ranks))
		if shares := grid.ListShares(b.Shares); shares != "" {
			vars = append(vars, grid.CheckpointSharesVariable+"="+shares)
		}
	}
	return vars
}

func lookup(vars []grid.Var, name string) (string, bool) {
	for i := range vars {
		if vars[i].Name == name {
			return vars[i].Value, true
		}
	}
	return "", false
}

// expanded is what a task is to run, with its values in it.
type expanded struct {
	argv    []string
	env     []string // NAME=VALUE
	outputs []string
	own     bool // the program is one of the inputs

	inputs []grid.File // in its work folder
}

// expand puts a task's variables into its command, its environment and its patterns of outputs. A program that is among
// the inputs is named as the file in the work folder.
func expand(spec *grid.JobSpec, vars []grid.Var, inputs []grid.File) (*expanded, error) {
	x := &expanded{inputs: inputs}
	values := vars
	if spec.Outer.Some() { // the grid that it comes from has put its values into it
		values = nil
		vars = slices.DeleteFunc(vars, func(v grid.Var) bool { _, given := lookup(spec.Env, v.Name); return given })
	}
	left := int(grid.MaxWords)
	for _, w := range spec.Command {
		word, err := grid.Expand(w, values, left)
		if err != nil {
			return nil, fmt.Errorf("command: %w", err)
		}
		left -= len(word)
		x.argv = append(x.argv, word)
	}
	for i := range inputs {
		if in := &inputs[i]; in.Exec && path.Clean(in.Path) == path.Clean(x.argv[0]) {
			x.argv[0], x.own = "./"+path.Clean(in.Path), true
			break
		}
	}
	left = int(grid.MaxWords)
	for _, v := range spec.Env {
		value, err := grid.Expand(v.Value, values, left)
		if err != nil {
			return nil, fmt.Errorf("env %s: %w", v.Name, err)
		}
		left -= len(value)
		x.env = append(x.env, v.Name+"="+value)
	}
	for _, v := range vars {
		x.env = append(x.env, v.Name+"="+v.Value)
	}
	for _, o := range spec.Outputs {
		pattern, err := grid.Expand(o, values, grid.MaxPath)
		if err == nil && !grid.Inside(pattern) {
			err = fmt.Errorf("%.80q: is not inside the work folder", pattern)
		}
		if err != nil {
			return nil, fmt.Errorf("outputs: %w", err)
		}
		x.outputs = append(x.outputs, pattern)
	}
	return x, nil
}
