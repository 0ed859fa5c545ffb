package mapper

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"skep/gang"
)

// Default is the mapper of a job that names none.
const Default = "min_max"

// divide sets the shares of a schedule whose costs are known and finite.
type divide func(units int, s *gang.Schedule) error

// named is a mapper by name.
type named struct {
	name   string
	divide divide
}

var all = []named{{"equal", equal}, {"min_max", minMax}, {"time_balance", timeBalance}}

// Names lists the mappers.
func Names() (names []string) {
	for _, n := range all {
		names = append(names, n.name)
	}
	return names
}

// New makes a mapper by its name.
func New(name string) (gang.Mapper, error) {
	at := slices.IndexFunc(all, func(n named) bool { return n.name == name })
	if at < 0 {
		return nil, fmt.Errorf("mapper %.80q: is not known: want one of %s", name, strings.Join(Names(), ", "))
	}
	return all[at].divide, nil
}

// ErrPlace is why a group with a machine that computes nothing, or with a link that is not known, cannot have work.
var ErrPlace = errors.New("a machine computes nothing or a link is not known")

// ErrPrecision is why a group cannot have work whose times differ by more than can be computed with.
var ErrPrecision = errors.New("times of units and of messages differ by more than can be computed with")

// NoRoom is the error of shares that no memory holds.
type NoRoom struct {
	Units int     // to be divided
	Fit   float64 // into the memory of all ranks together; of an equal share, into that of the smallest
	Ranks int
	Equal bool
}

// Error says what fits.
func (e NoRoom) Error() string {
	if e.Equal {
		return fmt.Sprintf("%d ranks of %d units each: the smallest memory holds %.0f", e.Ranks,
			(e.Units+e.Ranks-1)/e.Ranks, math.Floor(e.Fit))
	}
	return fmt.Sprintf("%d units: the memory of %d ranks holds %.0f", e.Units, e.Ranks, math.Floor(e.Fit))
}

// Map implements gang.Mapper.
func (d divide) Map(g *gang.Group, m gang.Model, s *gang.Schedule) error {
	s.Places = append(s.Places[:0], g.Places...)
	s.Costs = m.Costs(g, s.Costs[:0])
	s.Shares, s.Relaxation = s.Shares[:0], 0
	room := 0.0
	for _, c := range s.Costs {
		if math.IsInf(c.PerUnit, 1) || math.IsInf(c.Fixed, 1) {
			return ErrPlace
		}
		room += max(c.Most, 0)
		s.Shares = append(s.Shares, 0)
	}
	if n := m.Units(); room < float64(n)*(1-1e-12) {
		return NoRoom{Units: n, Fit: room, Ranks: len(s.Costs)}
	}
	if err := d(m.Units(), s); err != nil {
		return err
	}
	sum := 0.0
	for _, x := range s.Shares {
		if !(x >= 0) {
			return ErrPrecision
		}
		sum += x
	}
	if n := float64(m.Units()); !(math.Abs(sum-n) <= 1e-6*n) {
		return ErrPrecision
	}
	return nil
}
