package gangs

import (
	"fmt"
	"slices"
	"time"

	"skep/grid"
)

// Phase is what the owner of a gang waits for.
type Phase uint8

// Phases. Each may go back to Waiting: see [Gang.GiveUp] and [Gang.Lost].
//
//	Waiting   → Reserving   Reserve: workers are chosen, and asked for slots
//	Reserving → Offered     Offer: all slots are kept, the attempts are on disk
//	Waiting   → Offered     Adopt: attempts that an earlier run or owner made
//	Offered   → Running     Start: all ranks have a place
const (
	Waiting   Phase = iota // for its turn, for a pause to end, or for nodes
	Reserving              // for the answers of the workers
	Offered                // for the acceptances of all ranks
	Running                // for their ends
)

var phaseNames = [...]string{"waiting", "reserving", "offered", "running"}

// String returns the name of the phase.
func (p Phase) String() string { return phaseNames[p] }

// Place is how many ranks a worker is chosen for. The ranks are given to the places in order.
type Place struct {
	Node  grid.NodeID
	Ranks uint32
	// Shares are those of the work that each of these ranks gets; nil = it is not divided.
	Shares []uint32
	kept   bool
}

// Refusal is a worker's last answer that it does not keep the slots.
type Refusal struct {
	Node   grid.NodeID
	Why    grid.Refusal
	Holder grid.JobID // that they are kept for; zero = none
}

// Gang is the state of a gang. Invariants: places only while reserving or offered; a rank starts only while all ranks
// are placed; a result only of a rank that is placed; of all attempts of the ranks one number is current.
type Gang struct {
	Handle  uint64
	Due     grid.Time // end of the pause, or of the wait for answers or acceptances
	Tries   int       // rounds that failed since ranks last ran
	Patient int       // waits for nodes that may come, when those known are too few
	Search  uint64    // for further nodes; 0 = none is under way
	Held    []Refusal // of the last round

	phase   Phase
	round   uint32
	attempt grid.Attempt
	places  []Place
	layout  []grid.RankPlace // of the places, told with offers; immutable
	rooms   []room
	unfit   []grid.NodeID // that cannot execute or prepare a rank
	cannot  *grid.Result  // what the last of them said; nil = none has
	ranks   uint32        // of the attempt: the first of the gang's
	placed  []bool
	results []*grid.Result
	mayRun  bool // a rank of the attempt may have started
	miss    miss
	pause   pause
}

// room is how many ranks a worker said that it could keep.
type room struct {
	node  grid.NodeID
	ranks int
	until grid.Time
}

const roomFor = 2 * time.Second // that what a worker said counts

// New returns a gang that waits, whose attempts have so many ranks at most.
func New(handle uint64, ranks uint32) *Gang {
	return &Gang{Handle: handle, ranks: ranks, placed: make([]bool, ranks), results: make([]*grid.Result, ranks)}
}

func (g *Gang) become(p Phase, from ...Phase) {
	if !slices.Contains(from, g.phase) {
		panic(fmt.Sprintf("gangs: a gang that is %v does not become %v", g.phase, p))
	}
	g.phase = p
}

// Phase returns what the gang waits for.
func (g *Gang) Phase() Phase { return g.phase }

// Attempt is the attempt of all ranks; zero before the first.
func (g *Gang) Attempt() grid.Attempt { return g.attempt }

// Ranks is the number of ranks of the attempt; before the first, the largest that one may have.
func (g *Gang) Ranks() uint32 { return g.ranks }

// Uses reports whether a rank has a part in the attempt that is offered or runs. A rank that has none has no worker.
func (g *Gang) Uses(rank uint32) bool { return g.phase < Offered || rank < g.ranks }

// Round is the number of the last question to workers.
func (g *Gang) Round() uint32 { return g.round }

// Places are the workers chosen; none once the ranks run.
func (g *Gang) Places() []Place { return g.places }

// Layout says which ranks are where, while they are offered; nil = it is not known.
func (g *Gang) Layout() []grid.RankPlace { return g.layout }

// MayRun reports whether a rank of the attempt may have started.
func (g *Gang) MayRun() bool { return g.mayRun }

// Reserve begins to ask workers for slots, in a round whose number the owner uses once.
func (g *Gang) Reserve(a grid.Attempt, c Choice, round uint32, due grid.Time) {
	g.become(Reserving, Waiting)
	g.round = round
	g.attempt, g.ranks, g.places, g.Due, g.Held, g.mayRun = a, c.Ranks(), c.Places, due, nil, false
	g.pause.ask(c.Places)
}

// Kept records that a worker keeps the slots that it was asked for, and reports whether all do. An answer about other
// slots does not count.
func (g *Gang) Kept(id grid.NodeID, r *grid.Reserve) (all bool) {
	if g.phase != Reserving || r.Round != g.round || r.Attempt != g.attempt {
		return false
	}
	all = true
	for i := range g.places {
		p := &g.places[i]
		p.kept = p.kept || p.Node == id && p.Ranks == r.Ranks
		all = all && p.kept
	}
	return all
}

// Refused records that a worker keeps no slots, or no longer, and reports whether that ends the round.
func (g *Gang) Refused(now grid.Time, id grid.NodeID, r *grid.Reserve) bool {
	at := slices.IndexFunc(g.places, func(p Place) bool { return p.Node == id })
	if at < 0 || r.Round != g.round || g.phase != Reserving && g.phase != Offered {
		return false
	}
	g.Held = append(g.Held, Refusal{id, r.Refusal, r.Holder})
	g.SetRoom(id, int(r.Ranks), now.Add(roomFor))
	return true
}

// SetRoom records that a worker has slots for so many ranks until a time, whatever is known otherwise.
func (g *Gang) SetRoom(id grid.NodeID, ranks int, until grid.Time) {
	g.rooms = slices.DeleteFunc(g.rooms, func(x room) bool { return x.node == id })
	g.rooms = append(g.rooms, room{id, ranks, until})
}

// RoomAt returns for how many ranks a worker said to have slots; −1 = it said nothing of late.
func (g *Gang) RoomAt(now grid.Time, id grid.NodeID) int {
	for _, x := range g.rooms {
		if x.node == id && now < x.until {
			return x.ranks
		}
	}
	return -1
}

// Unfit records that a node could not execute or prepare a rank: it gets none again.
func (g *Gang) Unfit(id grid.NodeID, r *grid.Result) {
	g.unfit, g.cannot = append(g.unfit, id), r
}

// Cannot is what a node said that could not execute or prepare a rank; nil = none did.
func (g *Gang) Cannot() *grid.Result { return g.cannot }

// Offer records that the ranks are offered in the slots that are kept.
func (g *Gang) Offer(due grid.Time) {
	g.become(Offered, Reserving)
	g.Due, g.layout = due, make([]grid.RankPlace, len(g.places))
	for i, p := range g.places {
		g.layout[i] = grid.RankPlace{Node: p.Node, Ranks: p.Ranks, Shares: p.Shares}
	}
	g.clear()
}

// Adopt takes over attempts of so many ranks that an earlier run or owner has made: what of them runs is not known.
func (g *Gang) Adopt(a grid.Attempt, ranks uint32) {
	g.become(Offered, Waiting, Offered, Running)
	g.attempt, g.ranks, g.layout, g.mayRun, g.Due = a, ranks, nil, true, grid.Never
	g.clear()
}

func (g *Gang) clear() {
	clear(g.placed)
	clear(g.results)
	g.miss = miss{}
}

// Confirm records that a worker has a rank, and reports whether all ranks have a place and the gang may start.
func (g *Gang) Confirm(rank uint32) bool {
	g.placed[rank] = true
	return g.phase == Offered && !slices.Contains(g.placed[:g.ranks], false)
}

// Start records that the ranks may start: each has a place.
func (g *Gang) Start() {
	if slices.Contains(g.placed[:g.ranks], false) {
		panic("gangs: a rank starts only when all have a place")
	}
	g.become(Running, Offered)
	g.pause = pause{}
	g.mayRun, g.Tries, g.Patient, g.places, g.Due = true, 0, 0, nil, grid.Never
}

// Hold keeps the result of a rank that ended well, or that does not count yet.
func (g *Gang) Hold(rank uint32, r *grid.Result) { g.placed[rank], g.results[rank] = true, r }

// Result returns the result that is held of a rank; nil = none is.
func (g *Gang) Result(rank uint32) *grid.Result { return g.results[rank] }

// GiveUp ends an attempt, or a round, of which nothing has started.
func (g *Gang) GiveUp() {
	g.fail()
	g.Tries++
	g.phase, g.places = Waiting, nil
	g.clear()
}

// Lost ends an attempt of which something may have started.
func (g *Gang) Lost() {
	g.phase, g.places, g.mayRun = Waiting, nil, false
	g.clear()
}
