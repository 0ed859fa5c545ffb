package marketplace

import "math"

// System is a market: servers, their background load, and the tasks that come.
type System struct {
	Name       string
	Servers    Servers
	Load       float64 // background load and tasks, over the capacity; less than 1
	Background Background
	Tasks      Tasks
	Delay      float64 // mean one-way time of a message; its standard deviation is half of it
	PerSize    float64 // mean further time of a task's data and of a result, for a unit of its size

	Ahead  int // tasks that a server which takes one at a time may have waiting
	Owners int // of tasks, each of whom matches its own, with no matcher between them; 0 = there is one for all

	Reprice float64 // time between the changes of reserve prices
	Ageing  *Ageing // nil = bids do not rise

	Readings Readings
}

// Servers are evenly spaced in speed: the sum does not depend on the ratio.
type Servers struct {
	Count int
	Speed float64 // mean, in units of work that a resource unit does in a unit of time
	Units float64 // resource units of each
	Ratio float64 // speed of the slowest over the mean; 1 = all are equal
}

// Background is work of the servers' owners. It goes first, and waits only for itself.
type Background struct {
	Share float64 // part of the load
	Size  float64 // units of work of a task
	Units float64 // resource units that a task takes
}

// Tasks are those of the market.
type Tasks struct {
	Spread  float64    // sizes are loguniform of mean 1, the largest so many times the smallest; 1 = all are 1
	Weights [2]float64 // a task's weight is uniform between them, and is its bid
	Burst   int        // tasks that arrive at once

	Factor float64    // hard deadline, as a slowdown; 0 = none
	Slow1  float64    // soft deadline: slowdown from which the value falls; 0 = none
	Slow2  [2]float64 // slowdown at which it has fallen to zero is uniform between them
}

// Ageing raises the bids of what waits.
type Ageing struct {
	Interval float64 // between changes
	Time     float64 // after which a bid is
	Max      float64 // this
}

// Default is the system without background load, delay and deadlines, with 32 equal servers [1, chapter 7].
func Default() *System {
	return &System{Servers: Servers{Count: 32, Speed: 0.1, Units: 10, Ratio: 1}, Load: 0.9,
		Background: Background{Size: 1, Units: 1}, Tasks: Tasks{Spread: 10, Weights: [2]float64{0, 2}, Burst: 1},
		Reprice: 1}
}

// speed is that of a server, for a resource unit.
func (s *Servers) speed(j int) float64 {
	if s.Count == 1 {
		return s.Speed
	}
	slowest := s.Ratio * s.Speed
	return slowest + 2*(s.Speed-slowest)*float64(j)/float64(s.Count-1)
}

// Capacity is what all servers do in a unit of time.
func (s *System) Capacity() float64 {
	return float64(s.Servers.Count) * s.Servers.Speed * s.Servers.Units
}

// Rate is the number of tasks that arrive in a unit of time.
func (s *System) Rate() float64 { return s.Load * (1 - s.Background.Share) * s.Capacity() }

// reference is the speed of the server by which slowdowns are measured, that of the mean server alone.
func (s *System) reference() float64 { return s.Servers.Speed * s.Servers.Units }

// smallest is the smallest size.
func (t *Tasks) smallest() float64 {
	if t.Spread == 1 {
		return 1
	}
	return math.Log(t.Spread) / (t.Spread - 1)
}
