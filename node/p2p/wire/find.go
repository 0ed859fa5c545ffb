package wire

import (
	"fmt"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

func putFind(f *grid.Find) *pb.Find {
	p := &pb.Find{Id: f.ID, Engine: f.Engine, Left: uint32(f.Left), Hops: uint32(f.Hops), Within: putSpan(f.Within)}
	if f.Needs.CPU != 0 || f.Needs.Memory != 0 || f.Needs.Counts != "" || len(f.Needs.Labels) > 0 {
		p.Needs = putNeeds(&f.Needs)
	}
	if !f.Asker.IsZero() {
		p.Asker = f.Asker[:]
	}
	for i := range f.Visited {
		p.Visited = append(p.Visited, f.Visited[i][:]...)
	}
	return p
}

func getFind(p *pb.Find, f *grid.Find) error {
	if n := len(p.GetAsker()); n != 0 && n != nodeSize {
		return fmt.Errorf("asker: %w: %d bytes, want %d", ErrBound, n, nodeSize)
	}
	if p.GetLeft() > grid.MaxHops || p.GetHops() > grid.MaxHops {
		return fmt.Errorf("find: %w: %d hops left, %d gone, want at most %d", ErrBound, p.GetLeft(), p.GetHops(),
			grid.MaxHops)
	}
	visited := p.GetVisited()
	if len(visited)%nodeSize != 0 {
		return fmt.Errorf("visited: %w: %d bytes, want a multiple of %d", ErrBound, len(visited), nodeSize)
	}
	f.ID, f.Needs, f.Engine = p.GetId(), getNeeds(p.GetNeeds()), cleanText(p.GetEngine())
	f.Left, f.Hops = uint8(p.GetLeft()), uint8(p.GetHops())
	copy(f.Asker[:], p.GetAsker())
	for i := 0; i < len(visited); i += nodeSize {
		f.Visited = append(f.Visited, grid.NodeID(visited[i:i+nodeSize]))
	}
	var err error
	f.Within, err = getSpan("within", p.GetWithin())
	return err
}

// readSearch decodes a find or call with the asker's ad, which tells the finder where to answer, or a hit with the
// ad of the node that was found.
func readSearch(b []byte, m *grid.Message, open func([]byte) (*grid.Ad, error)) error {
	var p pb.Search
	if err := parse(b, &p); err != nil {
		return err
	}
	if p.Ad == nil && m.Kind == grid.KindHit {
		return fmt.Errorf("ad: %w: is missing", ErrMalformed)
	}
	if err := getFind(p.GetFind(), &m.Find); err != nil || p.Ad == nil {
		return err
	}
	return readEntry(p.Ad, m, open)
}
