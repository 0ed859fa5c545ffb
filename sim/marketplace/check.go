package marketplace

import (
	"errors"
	"fmt"
	"math"
)

// Bounds of a system.
const (
	MaxServers = 10_000
	MaxBurst   = 10_000
	MaxAhead   = 100
	MaxOwners  = 10_000
	maxOffers  = 1_000_000 // that all owners know
	maxTime    = 1e9
)

// Check reports everything that is wrong with a system.
func (s *System) Check() error {
	var errs []error
	want := func(key string, x, lo, hi float64) {
		if !(x >= lo && x <= hi) {
			errs = append(errs, fmt.Errorf("%s %g: want a number from %g to %g", key, x, lo, hi))
		}
	}
	want("servers.count", float64(s.Servers.Count), 1, MaxServers)
	want("servers.speed", s.Servers.Speed, 1e-6, 1e6)
	want("servers.units", s.Servers.Units, 1, 1e6)
	want("servers.ratio", s.Servers.Ratio, 1e-6, 1)
	want("load", s.Load, 0.001, 0.999)
	want("background.share", s.Background.Share, 0, 0.99)
	want("background.size", s.Background.Size, 1e-6, 1e6)
	want("background.units", s.Background.Units, 1e-6, s.Servers.Units)
	want("tasks.spread", s.Tasks.Spread, 1, 1e6)
	want("tasks.burst", float64(s.Tasks.Burst), 1, MaxBurst)
	want("delay", s.Delay, 0, maxTime)
	want("per_size", s.PerSize, 0, maxTime)
	want("ahead", float64(s.Ahead), 0, MaxAhead)
	want("owners", float64(s.Owners), 0, MaxOwners)
	if n := s.Owners * s.Servers.Count; n > maxOffers && s.Owners <= MaxOwners && s.Servers.Count <= MaxServers {
		errs = append(errs, fmt.Errorf("owners %d: want at most %d of %d servers, each of whom knows all", s.Owners,
			maxOffers/s.Servers.Count, s.Servers.Count))
	}
	want("reprice", s.Reprice, 1e-3, maxTime)
	interval := func(key string, x [2]float64, lo float64) {
		if !(x[0] >= lo && x[1] >= x[0] && x[1] <= 1e6) {
			errs = append(errs, fmt.Errorf("%s [%g, %g]: want two numbers from %g on, the smaller first", key, x[0], x[1],
				lo))
		}
	}
	interval("tasks.weights", s.Tasks.Weights, 0)
	if s.Tasks.Weights[1] == 0 {
		errs = append(errs, errors.New("tasks.weights [0, 0]: want some weight"))
	}
	if s.Tasks.Factor != 0 {
		want("tasks.deadline.factor", s.Tasks.Factor, 1e-3, 1e6)
	}
	if s.Tasks.Slow1 != 0 {
		want("tasks.deadline.slow1", s.Tasks.Slow1, 1e-3, 1e6)
		interval("tasks.deadline.slow2", s.Tasks.Slow2, s.Tasks.Slow1)
	}
	if s.Tasks.Factor != 0 && s.Tasks.Slow1 != 0 {
		errs = append(errs, errors.New("tasks.deadline: want factor, or slow1 and slow2"))
	}
	if a := s.Ageing; a != nil {
		want("ageing.interval", a.Interval, 1e-3, maxTime)
		want("ageing.time", a.Time, 1e-3, maxTime)
		want("ageing.max", a.Max, s.Tasks.Weights[1], math.MaxFloat64)
	}
	return errors.Join(errs...)
}
