package v1

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"skep/grid"
)

// Gang is how many tasks start together, and by what their nodes are chosen.
type Gang struct {
	Ranks    uint32  `json:"ranks,omitempty" doc:"Number of tasks, up to 1024; each has RANK, WORLD_SIZE and LOCAL_RANK in its environment. count is then left out, or the same."`
	Min      uint32  `json:"min,omitempty" doc:"With max, in place of ranks: each attempt has a number of ranks from min to max, as many as are best by the model, or without one as can be had at once. count is left out, or max."`
	Max      uint32  `json:"max,omitempty"`
	Ports    []int64 `json:"ports,omitempty" doc:"Up to 16 TCP ports on which the ranks listen. They then reach each other on these alone, which SKEP_PORTS lists, and run also on nodes without /dev/net/tun; without it on any port."`
	Model    *Model  `json:"model,omitempty" doc:"What the program needs. The nodes are then those on which an iteration is expected to be the shortest, and SKEP_SHARES tells each rank's share of the work; without it they are few and near."`
	Mapper   string  `json:"mapper,omitempty" doc:"How the work is divided, with a model: equal, time_balance or min_max, which is the default."`
	Conserve float64 `json:"conserve,omitempty" doc:"With a model: the part, up to 1, by which an iteration may take longer for the sake of fewer nodes."`
	OneSite  bool    `json:"one_site,omitempty" doc:"With a model: all ranks run at nodes that are near each other."`

	Contract *Contract `json:"contract,omitempty" doc:"With a model: when the gang moves to better nodes since iterations take longer than was expected."`
}

// Contract is when a gang moves to better nodes. What is left out has its default.
type Contract struct {
	Tolerance *float64 `json:"tolerance,omitempty" doc:"Part by which an iteration may take longer than was expected; 0.5."`
	Window    *uint32  `json:"window,omitempty" doc:"So many slow iterations in a row have better nodes looked for; 10."`
	Moves     *uint32  `json:"moves,omitempty" doc:"How often the gang moves at most; 3. With 0 never."`
}

// terms are those of a contract, nil where it says nothing.
func (x *Contract) terms() *grid.Contract {
	if x == nil {
		return nil
	}
	c := grid.DefaultContract
	if x.Tolerance != nil {
		c.Tolerance = *x.Tolerance
	}
	if x.Window != nil {
		c.Window = *x.Window
	}
	if x.Moves != nil {
		c.Moves = *x.Moves
	}
	return &c
}

// Model is what a parallel program needs.
type Model struct {
	Name       string             `json:"name" doc:"life, jacobi, memory or table."`
	Parameters map[string]float64 `json:"parameters,omitempty" doc:"By name, as n for the points on a side of the mesh."`
	Measured   []Measured         `json:"measured,omitempty" doc:"Of the model table: what iterations took."`
}

// Measured is what an iteration took with so many ranks, each with an equal share of the work.
type Measured struct {
	Ranks   uint32  `json:"ranks"`
	Compute float64 `json:"compute" doc:"Seconds of a rank."`
	Message float64 `json:"message" doc:"Seconds in which it communicated."`
}

func gangOf(g grid.Gang) *Gang {
	if g.Ranks == 0 {
		return nil
	}
	x := &Gang{Ranks: g.Ranks}
	for _, port := range g.Ports.List() {
		x.Ports = append(x.Ports, int64(port))
	}
	if g.Sized() {
		x.Ranks, x.Min, x.Max = 0, g.Min, g.Ranks
	}
	if s := g.Search; s != nil {
		x.Model = &Model{Name: s.Model}
		x.Mapper, x.Conserve, x.OneSite = s.Mapper, s.Conserve, s.OneSite
		if c := s.Contract; c != nil {
			x.Contract = &Contract{&c.Tolerance, &c.Window, &c.Moves}
		}
		for _, p := range s.Parameters {
			if x.Model.Parameters == nil {
				x.Model.Parameters = make(map[string]float64)
			}
			x.Model.Parameters[p.Name] = p.Value
		}
		for _, m := range s.Measured {
			x.Model.Measured = append(x.Model.Measured, Measured(m))
		}
	}
	return x
}

// apply makes the tasks of a job the ranks of a gang.
func (x *Gang) apply(g *grid.JobSpec) error {
	if err := x.size(g); err != nil {
		return err
	}
	if g.Count == 0 {
		g.Count = g.Gang.Ranks
	}
	var err error
	if g.Gang.Ports, err = grid.PortsOf(x.Ports); err != nil {
		return fmt.Errorf("gang.ports: %w", err)
	}
	if x.Model == nil {
		if x.Mapper != "" || x.Conserve != 0 || x.OneSite || x.Contract != nil {
			return errors.New("gang.mapper, conserve, one_site, contract without gang.model: want a model, as {name: life, " +
				"n: 2048}")
		}
		return nil
	}
	s := &grid.ScheduleSearch{Model: x.Model.Name, Mapper: x.Mapper, Conserve: x.Conserve, OneSite: x.OneSite,
		Contract: x.Contract.terms()}
	for _, name := range slices.Sorted(maps.Keys(x.Model.Parameters)) {
		s.Parameters = append(s.Parameters, grid.Parameter{Name: name, Value: x.Model.Parameters[name]})
	}
	for _, m := range x.Model.Measured {
		s.Measured = append(s.Measured, grid.Measured(m))
	}
	g.Gang.Search = s
	return nil
}

// size sets how many ranks the gang has.
func (x *Gang) size(g *grid.JobSpec) error {
	if err := x.CheckSize(); err != nil {
		return fmt.Errorf("gang.%w", err)
	}
	if g.Gang.Ranks = max(x.Ranks, x.Max); x.Min < x.Max {
		g.Gang.Min = x.Min
		g.Needs.AddFeature(grid.GangSizeLabel)
	}
	return nil
}

// CheckSize returns what is wrong with the number of ranks.
func (x *Gang) CheckSize() error {
	switch {
	case x.Min == 0 && x.Max == 0 && (x.Ranks == 0 || x.Ranks > grid.MaxRanks):
		return fmt.Errorf("ranks %d: want 1 to %d", x.Ranks, grid.MaxRanks)
	case x.Min == 0 && x.Max == 0:
		return nil
	case x.Ranks != 0:
		return fmt.Errorf("ranks %d with min %d and max %d: want either ranks, or min and max", x.Ranks, x.Min, x.Max)
	case x.Min == 0:
		return fmt.Errorf("min 0 with max %d: want a min from 1 to max", x.Max)
	case x.Max == 0 || x.Max > grid.MaxRanks:
		return fmt.Errorf("max %d with min %d: want a max from min to %d", x.Max, x.Min, grid.MaxRanks)
	case x.Min > x.Max:
		return fmt.Errorf("min %d is above max %d: want min ≤ max", x.Min, x.Max)
	}
	return nil
}
