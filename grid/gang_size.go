package grid

// Gangs whose size is chosen anew for each attempt. The job has as many tasks as there may be ranks; an attempt has
// the first of them, and the others are not used by it.
//
// The number of ranks is part of the attempt's number, so it is wherever the attempt is: in its owner's records, in
// those of its workers, in what they report to a new owner, and in the register. Whoever agrees on the attempt agrees
// on its size.

// attemptUnit is the distance between the numbers of two attempts of such a gang: N is a multiple of it, counted from
// 1, plus the number of ranks. So 1.20004 is the second attempt in epoch 1, and has 4 ranks. An epoch has 429,495.
const attemptUnit = 10_000

// Sized reports whether each attempt of the gang has a number of ranks of its own.
func (g *Gang) Sized() bool { return g.Min > 0 }

// Fewest is the smallest number of ranks that an attempt may have.
func (g *Gang) Fewest() uint32 {
	if g.Sized() {
		return g.Min
	}
	return g.Ranks
}

// RanksOf returns the number of ranks of an attempt; 0 = the gang can have no such attempt.
func (g *Gang) RanksOf(a Attempt) uint32 {
	n := a.N % attemptUnit
	switch {
	case !g.Sized():
		return g.Ranks
	case a.N < attemptUnit || n < g.Min || n > g.Ranks:
		return 0
	}
	return n
}

// After returns the attempt with so many ranks that follows one in the same epoch, or is the first of it.
func (g *Gang) After(a Attempt, ranks uint32) Attempt {
	if !g.Sized() {
		return Attempt{a.Epoch, a.N + 1}
	}
	return Attempt{a.Epoch, (a.N/attemptUnit+1)*attemptUnit + ranks}
}

// Before returns how many attempts of the same epoch can have been made before one.
func (g *Gang) Before(a Attempt) uint32 {
	n := a.N
	if g.Sized() {
		n /= attemptUnit
	}
	return max(n, 1) - 1
}

// TasksOf returns the number of tasks of the job that an attempt is one of: those of a gang that it uses, else all.
func (s *JobSpec) TasksOf(a Attempt) uint32 {
	if s.IsGang() {
		return s.Gang.RanksOf(a)
	}
	return s.Count
}

// checkMin rejects bounds between which there is no number of ranks, and nodes of versions that know none.
func (s *JobSpec) checkMin(p *problems) {
	switch g := &s.Gang; {
	case !g.Sized():
	case g.Min >= g.Ranks:
		p.addf("gang.min %d with gang.max %d: want a smaller min, or ranks: %d for a fixed number", g.Min, g.Ranks, g.Ranks)
	case !s.Needs.HasFeature(GangSizeLabel):
		p.addf("gang.min %d: want %s among the labels needed", g.Min, GangSizeLabel)
	}
}

// Contract is what the owner of a gang does where iterations take longer than the search predicted: it searches again,
// and moves the gang to a better schedule if that is worth it.
type Contract struct {
	Tolerance float64 // part of the predicted time by which an iteration may take longer
	Window    uint32  // so many slow iterations in a row break the contract
	Moves     uint32  // of the gang, at most; 0 = none
}

// DefaultContract is that of a gang which says nothing else. Models are wrong by some tens of percent, so a lower
// tolerance has the owner search in vain; a higher one leaves a gang longer where it is slow. A longer window passes
// over longer disturbances. More moves help where nodes change all the time, and cost a restart each.
var DefaultContract = Contract{Tolerance: 0.5, Window: 10, Moves: 3}

// Bounds of contracts.
const (
	MaxTolerance = 1000
	MaxWindow    = 1_000_000
	MaxMoves     = 100
)

// Terms returns the contract of the gang's attempts. Without a search nothing is predicted, and nothing moves.
func (g *Gang) Terms() Contract {
	switch {
	case g.Search == nil:
		return Contract{}
	case g.Search.Contract == nil:
		return DefaultContract
	}
	return *g.Search.Contract
}

// check rejects terms that no owner could keep.
func (c *Contract) check(p *problems) {
	switch {
	case c == nil:
		return
	case !(c.Tolerance >= 0 && c.Tolerance <= MaxTolerance):
		p.addf("gang.contract.tolerance %g: want a part from 0 to %d", c.Tolerance, MaxTolerance)
	}
	if c.Window < 1 || c.Window > MaxWindow {
		p.addf("gang.contract.window %d: want 1 to %d iterations", c.Window, MaxWindow)
	}
	if c.Moves > MaxMoves {
		p.addf("gang.contract.moves %d: want 0 to %d", c.Moves, MaxMoves)
	}
}

// ShareOf returns the share of the work of one rank; none = it is not divided.
func ShareOf(places []RankPlace, rank uint32) []uint32 {
	for _, p := range places {
		if rank < uint32(len(p.Shares)) {
			return p.Shares[rank : rank+1]
		}
		rank -= min(rank, p.Ranks)
	}
	return nil
}
