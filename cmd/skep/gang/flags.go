package gang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"skep/grid"
	"skep/node/api/v1"
)

// Flags are the flags of run about gangs.
type Flags struct {
	ranks, ports string
	given        func(name string) bool // whether a flag was given
}

// Add adds the flags.
func (f *Flags) Add(fl *pflag.FlagSet) {
	f.given = fl.Changed
	fl.StringVar(&f.ranks, "ranks", "",
		"tasks that start together or not at all, with RANK, WORLD_SIZE, MASTER_ADDR, SKEP_PEERS "+
			"and a network of their own: N, or 2-16 for as many as can be had; instead of --count")
	fl.StringVar(&f.ports, "ports", "",
		"TCP ports on which ranks listen, as 29500,29501 (SKEP_PORTS): they reach each other on these alone, and run "+
			"also on nodes without /dev/net/tun (default any port, with /dev/net/tun)")
}

// Apply makes the tasks of a job the ranks of a gang, if that is asked for, and returns what is wrong with it.
func (f *Flags) Apply(s *v1.Spec) (problems []error) {
	changed := func(name string) bool { return f.given != nil && f.given(name) }
	if f.ranks == "" && !changed("ranks") {
		if changed("ports") {
			problems = append(problems, fmt.Errorf("--ports %.40s without --ranks: want both: ranks listen on them", f.ports))
		}
		return problems
	}
	g, err := Flag(f.ranks)
	if err != nil {
		return []error{fmt.Errorf("--ranks %w", err)}
	}
	if changed("ports") {
		if g.Ports, err = parsePorts(strings.Split(f.ports, ",")); err != nil {
			problems = append(problems, fmt.Errorf("--ports %.40s: %w", f.ports, err))
		}
	}
	before := s.Count
	if s.Gang, s.Count = g, max(g.Ranks, g.Max); changed("count") && before != s.Count {
		problems = append(problems, fmt.Errorf("--count %d with --ranks %s: want one of them: each rank is a task", before,
			f.ranks))
	}
	return problems
}

// parsePorts reads the ports of a flag or a file.
func parsePorts(words []string) (all []int64, err error) {
	for _, w := range words {
		n, err := strconv.ParseInt(strings.TrimSpace(w), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("port %.20q: want a number from 1 to 65535", w)
		}
		all = append(all, n)
	}
	_, err = grid.PortsOf(all)
	return all, err
}
