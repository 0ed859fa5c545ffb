package advice

import "math"

// Measured is a system in numbers; NaN is what is not known.
type Measured struct {
	Servers    int
	Fastest    float64 // speed of the fastest server over that of the slowest
	Load       float64 // part of the capacity that is used, 0 to 1
	Background float64 // part of that load which is not of tasks, 0 to 1
	Whole      float64 // part of a machine that a background task takes, 0 to 1
	Delay      float64 // mean one-way time of a message, in mean run times of a task
	Burst      float64 // tasks that come at once
	Spread     float64 // run time of the longest task over that of the shortest, on one machine
	Bids       float64 // highest bid over the lowest
	Deadline   float64 // mean deadline of the tasks that have one, in their run times on the mean server; 0 = none has
	Worthless  float64 // mean time at which the value of such a task is nothing, likewise; 0 = deadlines are hard
	Purpose    Word    // 0 = what bids and deadlines make of it
}

// Thresholds. Where the source says what a word means [1, section 13.2], it is that; the others are between the values
// of its experiments (sections 7.1 and 10.1 to 10.3).
const (
	DelayLow, DelayHigh = 0.01, 0.05
	LoadLow, LoadHigh   = 0.5, 0.9
	ManyServers         = 110

	unequal              = 2           // equal speeds, or the fastest 127 times the slowest
	shareNone, shareHigh = 0.25, 0.625 // none, half, three quarters
	wholeMachine         = 0.55        // a tenth, or all
	burstOfServers       = 0.5         // one task, or as many as servers
	sameSize, sameBid    = 1.1, 1.1    // one size, or ten times; one bid, or from 0
	gridTight, gridLoose = 0.85, 1.3   // 0.6, 1.1, 1.5
	clusterLoose         = 1.3         // 1.1, 1.5
	softTight, softLoose = 1.675, 3.8  // in the mean 1.3, 2.05, 5.55
)

// Features says what the numbers are in the words of the tables.
func (m *Measured) Features() Features {
	f := Features{Purpose: m.Purpose,
		Speeds:     two(m.Fastest, Equal, unequal, Unequal),
		Delays:     three(m.Delay, Low, DelayLow, Medium, DelayHigh, High),
		Load:       three(m.Load, Low, LoadLow, Medium, LoadHigh, High),
		Background: three(m.Background, None, shareNone, Medium, shareHigh, High),
		Grain:      two(m.Whole, Fine, wholeMachine, Coarse),
		Sizes:      two(m.Spread, Identical, sameSize, Variable)}
	if m.Servers > 0 {
		f.Servers = two(float64(m.Servers), Few, ManyServers, Many)
		f.Bursts = two(m.Burst/float64(m.Servers), Low, burstOfServers, High)
	}
	if f.Purpose == 0 {
		f.Purpose = m.purpose()
	}
	switch {
	case f.Purpose == Soft:
		f.Deadlines = three(m.Worthless, Tight, softTight, Moderate, softLoose, Loose)
	case f.Purpose == Hard && f.Speeds == Equal:
		f.Deadlines = two(m.Deadline, Tight, clusterLoose, Loose)
	case f.Purpose == Hard:
		f.Deadlines = three(m.Deadline, Tight, gridTight, Moderate, gridLoose, Loose)
	}
	return f
}

// purpose is what bids and deadlines say.
func (m *Measured) purpose() Word {
	switch {
	case m.Worthless > 0:
		return Soft
	case m.Deadline > 0:
		return Hard
	case m.Bids > sameBid:
		return Bids
	}
	return Completion
}

// two is the word of a number that is below or from a bound; none if the number is not known.
func two(x float64, low Word, from float64, high Word) Word {
	switch {
	case math.IsNaN(x):
		return 0
	case x >= from:
		return high
	}
	return low
}

// three is the word of a number that is below, from or from a second bound.
func three(x float64, low Word, from float64, middle Word, then float64, high Word) Word {
	if x >= then {
		return high
	}
	return two(x, low, from, middle)
}
