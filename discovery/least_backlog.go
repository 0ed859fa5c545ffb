package discovery

import "skep/grid"

// LeastBacklog finds among nodes that meet needs and take new work the one with the least backlog; of equal ones that
// of which the news is newest.
type LeastBacklog struct {
	Needs  *grid.Needs
	Engine string
	Ad     *grid.Ad // of the best so far; nil = there was none

	heard grid.Time
}

// Consider takes a node into account by its ad, heard at a time; nil = nothing is known of it.
func (b *LeastBacklog) Consider(ad *grid.Ad, heard grid.Time) {
	if ad == nil || !Takes(b.Needs, b.Engine, ad) {
		return
	}
	if b.Ad == nil || ad.Backlog < b.Ad.Backlog || ad.Backlog == b.Ad.Backlog && heard > b.heard {
		b.Ad, b.heard = ad, heard
	}
}

// Takes reports whether a node meets needs and takes new work, by its ad.
func Takes(n *grid.Needs, engine string, ad *grid.Ad) bool {
	return Fit(n, engine, ad) == grid.WhyNone && Now(n, ad).Why == grid.WhyNone
}
