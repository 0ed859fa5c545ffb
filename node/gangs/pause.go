package gangs

import (
	"slices"
	"time"

	"skep/grid"
)

// Pauses between two rounds: drawn from 0 to a bound that doubles from minPause to maxPause.
const (
	minPause = 100 * time.Millisecond
	maxPause = 3200 * time.Millisecond
)

// pause is the wait between two failed rounds of a gang. A worker of the last round may end it early, by saying that it
// keeps slots for no gang any more (a hand-over): the next round asks for slots that become free. One that failed such
// a round is not heard before a pause has ended by itself, and only so many rounds in a row begin so: else workers that
// refuse slots and then say so would keep a gang from asking anywhere else.
type pause struct {
	asked  []grid.NodeID // in the last round
	failed []grid.NodeID // rounds for later slots since one that began by itself asked somebody
	until  grid.Time     // its drawn end; 0 = there is none, or it was ended
	ended  bool          // a worker has ended it
	row    int           // rounds that workers have begun since one that began by itself
	late   late
}

const maxRow = 3

// ask records whom the next round asks: there is no pause meanwhile.
func (p *pause) ask(of []Place) {
	p.asked, p.until = nodesOf(of), 0
}

// fail records who has failed the round.
func (g *Gang) fail() {
	p, someAsked := &g.pause, g.phase != Waiting
	switch {
	case p.ended:
		p.row++
	case someAsked:
		p.row, p.failed = 0, nil
	}
	if g.Later() && someAsked {
		ids := g.failures()
		p.failed = append(p.failed, ids...)
		p.late.note(g.Held, ids)
	}
}

// failures returns the workers that refused, else those that did not answer, else all: they have not taken the ranks.
func (g *Gang) failures() (ids []grid.NodeID) {
	for _, r := range g.Held {
		ids = append(ids, r.Node)
	}
	if len(ids) == 0 {
		ids = nodesOf(slices.DeleteFunc(slices.Clone(g.places), func(p Place) bool { return p.kept }))
	}
	if len(ids) == 0 {
		ids = nodesOf(g.places)
	}
	return ids
}

func nodesOf(places []Place) (ids []grid.NodeID) {
	for _, p := range places {
		ids = append(ids, p.Node)
	}
	return ids
}

// Rest begins the pause that follows a failed round. It is drawn.
func (g *Gang) Rest(now grid.Time, r *grid.Rand) {
	g.Due = now.Add(g.drawPause(r))
	g.pause.until, g.pause.ended = g.Due, false
}

// HandOver ends the pause, as a worker keeps slots for no gang any more, and reports whether it does. Other waits, as
// for nodes or after a loss, go on: these are due at another time than the pause.
func (g *Gang) HandOver(now grid.Time, from grid.NodeID, r *grid.Reserve) bool {
	p := &g.pause
	if g.Due != p.until || now >= p.until || p.row >= maxRow || r.Round != g.round || !slices.Contains(p.asked, from) ||
		slices.Contains(p.failed, from) {
		return false
	}
	g.Due, p.until, p.ended = now, 0, true
	return true
}

func (g *Gang) drawPause(r *grid.Rand) time.Duration {
	most := min(minPause<<min(max(g.Tries-1, 0), 10), maxPause)
	return most/4 + time.Duration(r.Int64N(int64(most)))
}

// laterAfter is the number of failed rounds after which one asks for slots that are not free yet.
const laterAfter = 3

// Later reports whether the gang asks for slots that become free: in every round that follows three failed ones which
// did not, or a hand-over. Slots that are kept so run nothing, and a gang that is never complete must not keep them all
// the time.
func (g *Gang) Later() bool { return g.pause.ended || g.Tries%(laterAfter+1) == laterAfter }

// Move ends an attempt that runs for one of another schedule. Its own slots may be of that, so the next round asks for
// slots that become free.
func (g *Gang) Move() {
	g.Lost()
	g.Tries = laterAfter
}

// RefusedAhead records what a worker said that keeps no slots for a move.
func (g *Gang) RefusedAhead(now grid.Time, id grid.NodeID, r *grid.Reserve) {
	g.SetRoom(id, int(r.Ranks), now.Add(roomFor))
}
