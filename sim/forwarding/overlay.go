package forwarding

import (
	"encoding/binary"
	"slices"

	"skep/discovery"
	"skep/grid"
	"skep/sim/event"
)

// world is a setting while it runs.
type world struct {
	s     *Setting
	rand  *grid.Rand
	nodes []*discovery.Discovery
	near  [][]grid.NodeID // neighbours, in order
	has   [][]int32       // types that a node holds, in order
	knows [][]known       // of others, by their ads
	needs []*grid.Needs   // of each type
	cdf   []float64       // of the types asked for

	queue  *event.Ladder
	seq    uint64
	slots  []slot
	idle   []int32
	bells  []bell
	silent []int32
	floods []flood
	fx     grid.Effects
	open   [][]asked // searches of each node
	result Result
	load   []int // finds that reached each node in the second half
}

// known is that a node knows a holder of a type.
type known struct{ kind, holder int32 }

func nodeID(i int32) (n grid.NodeID) {
	binary.BigEndian.PutUint32(n[:], uint32(i+1))
	return n
}

func indexOf(n grid.NodeID) int32 { return int32(binary.BigEndian.Uint32(n[:])) - 1 }

func newWorld(s *Setting) *world {
	w := &world{s: s, rand: grid.NewRand(s.Seed, 0), queue: event.NewLadder(), near: make([][]grid.NodeID, s.Nodes),
		has: make([][]int32, s.Nodes), knows: make([][]known, s.Nodes), open: make([][]asked, s.Nodes),
		load: make([]int, s.Nodes)}
	for i := range s.Nodes {
		w.nodes = append(w.nodes, new(discovery.New(nodeID(int32(i)), &s.Discovery, grid.NewRand(s.Seed, uint64(i+1)))))
	}
	w.link()
	w.place()
	w.types()
	if s.View > 0 {
		w.advertise()
	}
	return w
}

// link makes a ring and as many random edges as the degree asks for.
func (w *world) link() {
	n := w.s.Nodes
	edge := func(a, b int) bool {
		if a == b || slices.Contains(w.near[a], nodeID(int32(b))) {
			return false
		}
		w.near[a], w.near[b] = append(w.near[a], nodeID(int32(b))), append(w.near[b], nodeID(int32(a)))
		return true
	}
	for i := range n {
		edge(i, (i+1)%n)
	}
	for k := int(float64(n) * (w.s.Degree - 2) / 2); k > 0; {
		if edge(w.rand.IntN(n), w.rand.IntN(n)) {
			k--
		}
	}
	for i := range w.near {
		slices.SortFunc(w.near[i], grid.NodeID.Compare)
	}
}

// place puts the resources where they are: one on each node, and the others evenly or in few hands; or each type on as
// many nodes as Rare says.
func (w *world) place() {
	n, types := w.s.Nodes, w.s.Types
	give := func(node, kind int) {
		if at, is := slices.BinarySearch(w.has[node], int32(kind)); !is {
			w.has[node] = slices.Insert(w.has[node], at, int32(kind))
		}
	}
	if w.s.Rare > 0 {
		for kind := range types {
			for range w.s.Rare {
				give(w.rand.IntN(n), kind)
			}
		}
		return
	}
	order := w.rand.Perm(n)
	few := max(n/10, 1)
	for i := range n {
		give(i, w.rand.IntN(types))
	}
	for range int(float64(n) * (w.s.Each - 1)) {
		switch {
		case !w.s.Rich:
			give(w.rand.IntN(n), w.rand.IntN(types))
		case w.rand.Float64() < 0.9:
			give(order[w.rand.IntN(few)], w.rand.IntN(types))
		default:
			give(order[few+w.rand.IntN(n-few)], w.rand.IntN(types))
		}
	}
}

// types makes the needs, and how often each is asked for.
func (w *world) types() {
	sum := 0.0
	for k := range w.s.Types {
		name := make([]byte, 0, 8)
		name = append(name, 't')
		for x := k; ; x /= 10 {
			name = append(name, byte('0'+x%10))
			if x < 10 {
				break
			}
		}
		w.needs = append(w.needs, &grid.Needs{Resources: grid.Resources{CPU: grid.CPU},
			Labels: []grid.LabelNeed{{Key: "type", Values: []string{string(name)}}}})
		weight := 1.0
		if w.s.Zipf {
			weight /= float64(k + 1)
		}
		sum += weight
		w.cdf = append(w.cdf, sum)
	}
	for k := range w.cdf {
		w.cdf[k] /= sum
	}
}

// advertise lets the View nodes nearest to each holder know it.
func (w *world) advertise() {
	seen := make([]int32, w.s.Nodes)
	var queue []int32
	for i := range w.has {
		queue = append(queue[:0], int32(i))
		seen[i] = int32(i) + 1
		for at := 0; at < len(queue) && len(queue) <= w.s.View; at++ {
			for _, id := range w.near[queue[at]] {
				if j := indexOf(id); seen[j] != int32(i)+1 && len(queue) <= w.s.View {
					seen[j] = int32(i) + 1
					queue = append(queue, j)
				}
			}
		}
		for _, j := range queue[1:] {
			for _, kind := range w.has[i] {
				w.knows[j] = append(w.knows[j], known{kind, int32(i)})
			}
		}
	}
}

// ad describes a node by one type that it holds.
func (w *world) ad(node, kind int32) *grid.Ad {
	return &grid.Ad{Node: nodeID(node), Seq: grid.Seq{Boot: 1}, Capacity: grid.Resources{CPU: grid.CPU}, Speed: 1,
		Availability: 1,
		Labels:       []grid.Label{{Key: "type", Value: w.needs[kind].Labels[0].Values[0]}},
		Engines:      []string{grid.EngineProcess}}
}
