package gangs

// miss is the rank that was lost while it was not known whether the attempt is the newest; the zero value = none was.
type miss struct {
	rank uint32
	why  string
}

// Miss records that a rank of an adopted attempt is lost, and why, while it is not known yet whether that attempt is
// the newest.
func (g *Gang) Miss(rank uint32, why string) {
	g.placed[rank], g.miss = false, miss{rank, why}
}

// HasMissed reports whether a rank was lost in the grace.
func (g *Gang) HasMissed() bool { return g.miss.why != "" }

// Missed returns the rank that is lost and why; else these.
func (g *Gang) Missed(rank uint32, why string) (uint32, string) {
	if g.miss.why != "" {
		return g.miss.rank, g.miss.why
	}
	return rank, why
}
