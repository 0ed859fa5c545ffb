package grid

import (
	"fmt"
	"slices"
	"strconv"
)

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

// SharesOf lists the shares of the work of all ranks, with commas between; "" = it is not divided.
func SharesOf(places []RankPlace) string {
	var all []uint32
	for _, p := range places {
		all = append(all, p.Shares...)
	}
	return ListShares(all)
}

// ListShares lists shares of the work with commas between.
func ListShares(shares []uint32) string {
	var b []byte
	for _, x := range shares {
		b = append(strconv.AppendUint(b, uint64(x), 10), ',')
	}
	return string(b[:max(len(b)-1, 0)])
}

// MaxPorts bounds the ports that a gang may name, MaxListeners those of all its ranks together: a node may have to
// listen in place of nearly all of them.
const (
	MaxPorts     = 16
	MaxListeners = 4096
)

// Ports are the TCP ports on which the ranks of a gang listen, ascending, then zeros; none = any. Ranks of a gang that
// names some reach each other on these alone, also on nodes that can make no virtual network.
type Ports [MaxPorts]uint16

// PortsOf returns ports in order, and what is wrong with them.
func PortsOf(all []int64) (p Ports, err error) {
	if len(all) > MaxPorts {
		return p, fmt.Errorf("%d ports: want at most %d", len(all), MaxPorts)
	}
	sorted := slices.Sorted(slices.Values(all))
	for i, n := range sorted {
		if n < 1 || n > 65535 {
			return Ports{}, fmt.Errorf("port %d: want 1 to 65535", n)
		}
		if i > 0 && sorted[i-1] == n {
			return Ports{}, fmt.Errorf("port %d: is there twice: want it once", n)
		}
		p[i] = uint16(n)
	}
	return p, nil
}

// Some reports whether any are named.
func (p *Ports) Some() bool { return p[0] != 0 }

// List returns those that are named.
func (p *Ports) List() []uint16 {
	n := 0
	for n < len(p) && p[n] != 0 {
		n++
	}
	return slices.Clone(p[:n])
}

// check rejects what no node could listen on.
func (p *Ports) check(g *Gang, problems *problems) {
	list := p.List()
	for i := len(list); i < len(p); i++ {
		if p[i] != 0 {
			problems.addf("gang.ports: port 0: want 1 to 65535")
			return
		}
	}
	for i := 1; i < len(list); i++ {
		if list[i-1] >= list[i] {
			problems.addf("gang.ports: port %d after %d: want each once, ascending", list[i], list[i-1])
		}
	}
	if n := uint64(len(list)) * uint64(g.Ranks); n > MaxListeners {
		problems.addf("gang.ports: %d ports of %d ranks: want at most %d in all", len(list), g.Ranks, MaxListeners)
	}
}

// NetworkLabel is the label that nodes need on which ranks with these ports reach each other.
func (p *Ports) NetworkLabel() string {
	if p.Some() {
		return GangPortsLabel
	}
	return GangNetworkLabel
}
