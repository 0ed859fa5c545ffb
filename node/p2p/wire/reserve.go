package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// Numbers of fields about gangs: in an encoded spec the ranks and the search for their nodes; in an offer the nodes of
// the ranks, for which numbers of ranks and shares of the work follow.
const (
	gangField    = 90
	gangMinField = 92
	searchField  = 91
	portsField   = 93
	placesField  = 90
)

var (
	parameterShape      = &shape{"parameter", []field{1: data("name", 1, grid.MaxClass), 2: number("value")}}
	measuredShape       = &shape{"measured", []field{1: number("ranks"), 2: number("compute"), 3: number("message")}}
	contractShape       = &shape{"contract", []field{1: number("tolerance"), 2: number("window"), 3: number("moves")}}
	scheduleSearchShape = &shape{"schedule_search", []field{
		1: data("model", 1, grid.MaxClass), 2: message("parameters", grid.MaxParameters, parameterShape),
		3: message("measured", grid.MaxMeasured, measuredShape), 4: data("mapper", 1, grid.MaxClass),
		5: number("conserve"), 6: number("one_site"), 7: message("contract", 1, contractShape),
		8: number("counts_moves"),
	}}
)

// putPorts encodes ports, two bytes each.
func putPorts(p *grid.Ports) (b []byte) {
	for _, port := range p.List() {
		b = binary.BigEndian.AppendUint16(b, port)
	}
	return b
}

func (p part) ports(to *grid.Ports) error {
	if len(p.b) > 2*len(to) || len(p.b)%2 != 0 {
		return fmt.Errorf("gang_ports: %w: %d bytes", ErrBound, len(p.b))
	}
	for i := range len(p.b) / 2 {
		to[i] = binary.BigEndian.Uint16(p.b[2*i:])
	}
	return nil
}

func putSearch(s *grid.ScheduleSearch) *pb.ScheduleSearch {
	if s == nil {
		return nil
	}
	p := &pb.ScheduleSearch{Model: s.Model, Mapper: s.Mapper, Conserve: math.Float64bits(s.Conserve), OneSite: s.OneSite,
		CountsMoves: s.CountsMoves}
	if c := s.Contract; c != nil {
		p.Contract = &pb.Contract{Tolerance: math.Float64bits(c.Tolerance), Window: c.Window, Moves: c.Moves}
	}
	for _, x := range s.Parameters {
		p.Parameters = append(p.Parameters, &pb.Parameter{Name: x.Name, Value: math.Float64bits(x.Value)})
	}
	for _, x := range s.Measured {
		p.Measured = append(p.Measured, &pb.Measured{Ranks: x.Ranks, Compute: math.Float64bits(x.Compute),
			Message: math.Float64bits(x.Message)})
	}
	return p
}

func (p part) search(s *grid.ScheduleSearch) error {
	return p.each(func(num protowire.Number, x uint64) error {
		switch num {
		case 5:
			s.Conserve = math.Float64frombits(x)
		case 6:
			s.OneSite = x != 0
		case 8:
			s.CountsMoves = x != 0
		}
		return nil
	}, func(num protowire.Number, of part) (err error) {
		switch num {
		case 1:
			s.Model, err = of.cloned("model")
		case 2:
			s.Parameters = append(s.Parameters, grid.Parameter{})
			err = of.parameter(&s.Parameters[len(s.Parameters)-1])
		case 3:
			s.Measured = append(s.Measured, grid.Measured{})
			err = of.measured(&s.Measured[len(s.Measured)-1])
		case 4:
			s.Mapper, err = of.cloned("mapper")
		case 7:
			s.Contract = new(grid.Contract)
			err = of.contract(s.Contract)
		}
		return err
	})
}

func (p part) contract(c *grid.Contract) error {
	return p.each(func(num protowire.Number, x uint64) error {
		switch num {
		case 1:
			c.Tolerance = math.Float64frombits(x)
		case 2:
			c.Window = uint32(x)
		case 3:
			c.Moves = uint32(x)
		}
		return nil
	}, skipData)
}

func (p part) parameter(x *grid.Parameter) error {
	return p.each(func(num protowire.Number, n uint64) error {
		if num == 2 {
			x.Value = math.Float64frombits(n)
		}
		return nil
	}, func(num protowire.Number, of part) (err error) {
		if num == 1 {
			x.Name, err = of.cloned("parameter")
		}
		return err
	})
}

func (p part) measured(x *grid.Measured) error {
	return p.each(func(num protowire.Number, n uint64) error {
		switch num {
		case 1:
			x.Ranks = uint32(n)
		case 2:
			x.Compute = math.Float64frombits(n)
		case 3:
			x.Message = math.Float64frombits(n)
		}
		return nil
	}, skipData)
}

// putPlaces encodes the places of ranks in columns.
func putPlaces(places []grid.RankPlace) (nodes []byte, ranks, shares []uint32) {
	for i := range places {
		p := &places[i]
		nodes, ranks, shares = append(nodes, p.Node[:]...), append(ranks, p.Ranks), append(shares, p.Shares...)
	}
	return nodes, ranks, shares
}

func getPlaces(nodes []byte, ranks, shares []uint32) (places []grid.RankPlace, err error) {
	if len(ranks) > grid.MaxRanks || len(nodes) != nodeSize*len(ranks) {
		return nil, fmt.Errorf("places of ranks: %w: %d bytes of nodes, %d numbers of ranks: want %d for each, and up to %d",
			ErrBound, len(nodes), len(ranks), nodeSize, grid.MaxRanks)
	}
	divided := len(shares) > 0
	for i, n := range ranks {
		p := grid.RankPlace{Node: grid.NodeID(nodes[i*nodeSize : (i+1)*nodeSize]), Ranks: n}
		if divided {
			of := int(min(n, uint32(len(shares))))
			p.Shares, shares = shares[:of:of], shares[of:]
		}
		places = append(places, p)
	}
	if len(shares) > 0 {
		return nil, fmt.Errorf("places of ranks: %w: %d shares of the work more than ranks", ErrBound, len(shares))
	}
	return places, nil
}

var reserveShape = &shape{"reserve", []field{
	1: data("job", 1, jobSize), 2: number("epoch"), 3: number("n"), 4: number("round"), 5: number("ranks"),
	6: number("cpu"), 7: number("memory"), 8: data("counts", 1, grid.MaxCounts), 9: number("ttl"), 10: number("age"),
	11: number("later"), 12: number("why"), 13: data("detail", 1, grid.MaxText), 14: data("holder", 1, jobSize),
}}

func putReserve(r *grid.Reserve) *pb.Reserve {
	p := &pb.Reserve{Job: putJob(r.Job), Epoch: r.Attempt.Epoch, N: r.Attempt.N, Round: r.Round, Ranks: r.Ranks,
		Cpu: int64(r.Needs.CPU), Memory: int64(r.Needs.Memory), Counts: string(r.Needs.Counts), Ttl: putSpan(r.TTL),
		Age: putSpan(r.Age), Later: r.Later, Why: uint32(r.Refusal.Why), Detail: clean(r.Refusal.Detail)}
	if r.Holder != (grid.JobID{}) {
		p.Holder = putJob(r.Holder)
	}
	return p
}

func readReserve(b []byte, m *grid.Message) error {
	var p pb.Reserve
	if err := parse(b, &p); err != nil {
		return err
	}
	r := &grid.Reserve{Attempt: grid.Attempt{Epoch: p.Epoch, N: p.N}, Round: p.Round, Ranks: p.Ranks,
		Needs: resourcesOf(p.Cpu, p.Memory, p.Counts), Later: p.Later,
		Refusal: grid.Refusal{Why: getWhy(p.Why), Detail: cleanText(p.Detail)}}
	if err := getJob(p.Job, &r.Job); err != nil {
		return err
	}
	if len(p.Holder) > 0 {
		if err := getJob(p.Holder, &r.Holder); err != nil {
			return err
		}
	}
	var err error
	if r.TTL, err = getSpan("ttl", p.Ttl); err != nil {
		return err
	}
	r.Age, err = getSpan("age", p.Age)
	m.Reserve = r
	return err
}

func reserve(r *grid.Reserve) error {
	if r == nil {
		return fmt.Errorf("reservation: %w: is missing", ErrMalformed)
	}
	if r.Ranks > grid.MaxRanks {
		return fmt.Errorf("%d ranks: %w: want at most %d", r.Ranks, ErrBound, grid.MaxRanks)
	}
	return first(resources("needs", r.Needs), spans("ttl", r.TTL, "age", r.Age))
}
