package gangs

import (
	"time"

	"skep/grid"
)

// Pauses between two rounds: drawn from 0 to a bound that doubles from minPause to maxPause.
const (
	minPause = 100 * time.Millisecond
	maxPause = 3200 * time.Millisecond
)

// Pause draws how long the gang waits before the next round.
func (g *Gang) Pause(r *grid.Rand) time.Duration {
	most := min(minPause<<min(max(g.Tries-1, 0), 10), maxPause)
	return most/4 + time.Duration(r.Int64N(int64(most)))
}

// laterAfter is the number of failed rounds after which one asks for slots that are not free yet.
const laterAfter = 3

// Later reports whether the gang asks for slots that become free: in every round that follows three failed ones which
// did not. Slots that are kept so run nothing, and a gang that is never complete must not keep them all the time.
func (g *Gang) Later() bool { return g.Tries%(laterAfter+1) == laterAfter }

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
