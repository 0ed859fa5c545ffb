package queueing

// System is a queueing system. Time is in units of the reader's choice, and rates are for each such unit.
type System struct {
	Name     string
	Classes  []string
	Machines []Line

	// Mu has a row for each class and a column for each line: the execution rate on one machine of the
	// line; 0 = cannot.
	Mu [][]float64

	// Alpha is the arrival rate of each class over the whole system. Where machines decide it is split
	// evenly over them. AlphaAt, in its place, has classes × lines: the arrival rate at one machine.
	Alpha   []float64
	AlphaAt [][]float64

	// Decide says who places tasks. By default it is one mapper, which sees all machines, where arrivals
	// are given for the whole system, and the machine of arrival where they are given by machine or the
	// policy is lpas_dec or lpas_dec_2k.
	Decide Decider

	// Service is how execution times vary around 1/mu.
	Service Distribution

	RateChanges  *RateChanges   // nil = none
	Failures     []Failures     // none, one for all machines, or one for each line
	Availability []Availability // by line; none = all of each machine
	// by line: the availability that policies are told; none = the mean of the true one
	Announced           []float64
	AvailabilityChanges *AvailabilityChanges // nil = none
	Inaccuracy          Inaccuracy

	// Ties says which of machines with equal expected completion times is taken.
	Ties Ties

	// Mapping is of batch policies, which place tasks together; nil = only those can be used that take each as it comes.
	Mapping *Mapping

	// Delay is the one-way time of a poll, an answer and a move, and where machines take, of a request and a task; 0 = all
	// at once, as in [1].
	Delay float64

	// Told says which rates policies are told where machines take with a delay.
	Told Told
}

// Line is a group of identical machines.
type Line struct {
	Name  string
	Count int // 0 reads as 1

	// Class is that of the tasks that class based policies give them, and Cluster where they stand; "" = all, and
	// each by itself.
	Class, Cluster string
}

// Decider says who places tasks.
type Decider string

// Who decides.
const (
	ByDefault  Decider = ""
	ByMapper   Decider = "mapper"
	ByMachines Decider = "machines"
)

// Ties is a rule for equal ones.
type Ties string

// The rules for ties. [1] names none; by default they are broken at random.
const (
	AtRandom Ties = ""
	Lowest   Ties = "lowest" // the first in the order of the machines
)

// Told is which execution rates a policy is told.
type Told string

// What it is told.
const (
	Nominal   Told = ""          // mu_ij, as in [1, section 3.2]
	Corrected Told = "corrected" // mu_ij·p_ij, p_ij = (1/mu_ij)/(1/mu_ij + 2·Delay), as [1, section 3.5.2] proposes
)

// RateChanges sets one of all arrival and execution rates, all equally likely, to its value in the system
// times one of the factors, at times with exponential gaps [1, section 4.3.1]. The time of a task that
// runs stays.
type RateChanges struct {
	MeanInterval float64
	Alpha, Mu    []float64 // factors; none = 1
}

// Failures are faults of each machine, whether it works or not. Where tasks queue at machines they stay
// there, and the one that ran begins anew afterwards; where machines take, it goes back to the head of its
// queue with its age [1, section 3.1].
type Failures struct {
	Rate      float64 // 1 over the mean time up; 0 = never
	MeanFault float64 // mean time down
	Up, Down  Distribution
}

// Availability is the part of a machine that is there for tasks of the system: Fixed, or Chain.
type Availability struct {
	Fixed float64 // in (0, 1]
	Chain *Chain
}

// Chain is a Markov chain that moves every Step. Policies are told its stationary mean.
type Chain struct {
	Values []float64   // availability in each state
	Matrix [][]float64 // probability of the next state, by rows, which are made to sum to 1
	Step   float64
}

// AvailabilityChanges gives every machine one of Values as its availability, all equally likely, at times
// with exponential gaps [1, section 4.3.3].
type AvailabilityChanges struct {
	MeanInterval float64
	Values       []float64
}

// Inaccuracy is how wrong the policies' information is: what they are told is the truth times 1+E, with E
// uniform in [−I, I] and drawn for each number by itself.
type Inaccuracy struct {
	Rates        float64 // I of arrival and execution rates [1, section 4.3.2]
	Availability float64 // I of availabilities, drawn when a machine comes up, and kept to 0 … 1 [1, section 3.4.7]
	EachMessage  bool    // rates are drawn anew for every message, else once and at changes
}

// Size is the number of machines.
func (s *System) Size() int {
	m := 0
	for _, l := range s.Machines {
		m += l.count()
	}
	return m
}

func (l Line) count() int { return max(l.Count, 1) }

// failures returns those of a line.
func (s *System) failures(line int) Failures {
	switch len(s.Failures) {
	case 0:
		return Failures{}
	case 1:
		return s.Failures[0]
	}
	return s.Failures[line]
}

// availability returns that of a line.
func (s *System) availability(line int) Availability {
	if len(s.Availability) == 0 {
		return Availability{Fixed: 1}
	}
	return s.Availability[line]
}

// up is the part of the time that machines of a line are up.
func (f Failures) up() float64 { return 1 / (1 + f.Rate*f.MeanFault) }

// mean is the availability on average.
func (a Availability) mean() float64 {
	if a.Chain == nil {
		return a.Fixed
	}
	return a.Chain.mean()
}
