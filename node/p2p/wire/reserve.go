package wire

import (
	"fmt"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// gangField is the number of the ranks of a gang in an encoded spec, placesField that of their nodes in an offer; those
// have their numbers of ranks in the next.
const (
	gangField   = 90
	placesField = 90
)

// putPlaces encodes the places of ranks in columns.
func putPlaces(places []grid.RankPlace) (nodes []byte, ranks []uint32) {
	for i := range places {
		nodes, ranks = append(nodes, places[i].Node[:]...), append(ranks, places[i].Ranks)
	}
	return nodes, ranks
}

func getPlaces(nodes []byte, ranks []uint32) (places []grid.RankPlace, err error) {
	if len(ranks) > grid.MaxRanks || len(nodes) != nodeSize*len(ranks) {
		return nil, fmt.Errorf("places of ranks: %w: %d bytes of nodes, %d numbers of ranks: want %d for each, and up to %d",
			ErrBound, len(nodes), len(ranks), nodeSize, grid.MaxRanks)
	}
	for i, n := range ranks {
		places = append(places, grid.RankPlace{Node: grid.NodeID(nodes[i*nodeSize : (i+1)*nodeSize]), Ranks: n})
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
