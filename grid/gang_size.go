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
