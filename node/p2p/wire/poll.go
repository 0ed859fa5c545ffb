package wire

import (
	"fmt"
	"math"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

func (c *Codec) putPoll(q *grid.Poll) *pb.Poll {
	p := &c.poll
	p.Id, p.Class, p.Cpu, p.Memory = q.ID, q.Class, int64(q.Needs.CPU), int64(q.Needs.Memory)
	p.Counts, p.Bid = string(q.Needs.Counts), putBid(q.Bid)
	p.Rates, p.Trades = fillRates(c.emptyRates(), q.Rates), q.Trades
	p.Speed, p.Cores, p.Mine, p.Have = q.Speed, int64(q.Cores), q.Mine, q.Have
	p.Options = putPollOptions(q.Options)
	return p
}

func (c *Codec) readPoll(b []byte, q *grid.Poll) error {
	p := &c.poll
	p.Reset()
	p.Rates = c.emptyRates()
	if err := parse(b, p); err != nil {
		return err
	}
	q.ID, q.Class, q.Needs = p.Id, cleanText(p.Class), resourcesOf(p.Cpu, p.Memory, p.Counts)
	q.Speed, q.Cores, q.Mine, q.Have, q.Trades = p.Speed, grid.MilliCPU(p.Cores), p.Mine, p.Have, p.Trades
	var err error
	if q.Bid, err = getBid(uint64(p.Bid)); err != nil {
		return err
	}
	q.Options = getPollOptions(q.Options, p.Options)
	q.Rates, err = getRates(q.Rates, p.Rates)
	return err
}

// bidField is the number of the bid in an encoded spec and in a poll.
const bidField = 65

func putBid(b grid.Bid) uint32 { return uint32(max(b, 0)) }

func getBid(n uint64) (grid.Bid, error) {
	if n > uint64(grid.MaxBid) {
		return 0, fmt.Errorf("bid: %w: %d", ErrBound, n)
	}
	return grid.Bid(n), nil
}

func (c *Codec) putState(s *grid.State) *pb.State {
	p := &c.state
	p.Id, p.Ect, p.Backlog = s.ID, putSpan(s.ECT), putSpan(s.Backlog)
	p.FreeCpu, p.FreeMemory, p.Why = int64(s.Free.CPU), int64(s.Free.Memory), uint32(s.Why)
	p.FreeCounts = string(s.Free.Counts)
	p.Rates = fillRates(c.emptyRates(), s.Rates)
	p.Speed, p.Cores, p.Mine, p.Have, p.Stamp = s.Speed, int64(s.Cores), s.Mine, s.Have, s.Stamp
	p.Waiting, p.Running, p.Ran, p.Rest = uint32(s.Waiting), uint32(s.Running), putSpan(s.Ran), putSpan(s.Rest)
	p.Price, p.Outbid, p.Bids = putBid(s.Price), putBid(s.Outbid), uint64(max(s.Bids, 0))
	p.Options = putOptionStates(s.Options)
	return p
}

func (c *Codec) readState(b []byte, s *grid.State) error {
	p := &c.state
	p.Reset()
	p.Rates = c.emptyRates()
	if err := parse(b, p); err != nil {
		return err
	}
	s.ID, s.Free = p.Id, resourcesOf(p.FreeCpu, p.FreeMemory, p.FreeCounts)
	s.Why = getWhy(p.Why)
	s.Speed, s.Cores, s.Mine, s.Have, s.Stamp = p.Speed, grid.MilliCPU(p.Cores), p.Mine, p.Have, p.Stamp
	var err error
	if s.ECT, err = getSpan("ect", p.Ect); err != nil {
		return err
	}
	if s.Backlog, err = getSpan("backlog", p.Backlog); err != nil {
		return err
	}
	s.Waiting, s.Running = int32(min(p.Waiting, math.MaxInt32)), int32(min(p.Running, math.MaxInt32))
	if s.Ran, err = getSpan("ran", p.Ran); err != nil {
		return err
	}
	if s.Rest, err = getSpan("rest", p.Rest); err != nil {
		return err
	}
	if s.Quote, err = getQuote(p); err != nil {
		return err
	}
	if s.Options, err = getOptionStates(s.Options, p.Options); err != nil {
		return err
	}
	s.Rates, err = getRates(s.Rates, p.Rates)
	return err
}

func quote(s *grid.State) error {
	if err := s.Quote.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrBound, err)
	}
	return nil
}

func getQuote(p *pb.State) (q grid.Quote, err error) {
	if q.Price, err = getBid(uint64(p.Price)); err != nil {
		return q, err
	}
	if q.Outbid, err = getBid(uint64(p.Outbid)); err != nil {
		return q, err
	}
	if p.Bids > uint64(grid.MaxBids) {
		return q, fmt.Errorf("bids: %w: %d", ErrBound, p.Bids)
	}
	q.Bids = int64(p.Bids)
	return q, nil
}

// fillRates fills p's columns; no rates are no field.
func fillRates(p *pb.Rates, rates []grid.Rate) *pb.Rates {
	if len(rates) == 0 {
		return nil
	}
	for i := range rates {
		p.Class = append(p.Class, rates[i].Class)
		p.Alpha = append(p.Alpha, rates[i].Alpha)
		p.Mu = append(p.Mu, rates[i].Mu)
	}
	return p
}

func getRates(dst []grid.Rate, p *pb.Rates) ([]grid.Rate, error) {
	class, alpha, mu := p.GetClass(), p.GetAlpha(), p.GetMu()
	if len(alpha) != len(class) || len(mu) != len(class) {
		return dst, fmt.Errorf("rates: %w: columns of %d, %d and %d", ErrMalformed, len(class), len(alpha), len(mu))
	}
	for i := range class {
		dst = append(dst, grid.Rate{Class: cleanText(class[i]), Alpha: alpha[i], Mu: mu[i]})
	}
	return dst, nil
}

func (c *Codec) emptyRates() *pb.Rates {
	p := &c.rates
	p.Class, p.Alpha, p.Mu = p.Class[:0], p.Alpha[:0], p.Mu[:0]
	return p
}

func putPollOptions(all []grid.PollOption) (out []*pb.PollOption) {
	for _, o := range all {
		out = append(out, &pb.PollOption{Cpu: int64(o.Needs.CPU), Memory: int64(o.Needs.Memory),
			Counts: string(o.Needs.Counts), Speedup: math.Float64bits(o.Speedup)})
	}
	return out
}

func getPollOptions(dst []grid.PollOption, ps []*pb.PollOption) []grid.PollOption {
	for _, p := range ps {
		dst = append(dst, grid.PollOption{Needs: resourcesOf(p.Cpu, p.Memory, p.Counts),
			Speedup: math.Float64frombits(p.Speedup)})
	}
	return dst
}

func pollOptions(all []grid.PollOption) error {
	if len(all) > grid.MaxOptions {
		return fmt.Errorf("%d options: %w: want at most %d", len(all), ErrBound, grid.MaxOptions)
	}
	for i := range all {
		if err := resources("option", all[i].Needs); err != nil {
			return err
		}
		if s := all[i].Speedup; !(s >= 1.0/grid.MaxSpeedup && s <= grid.MaxSpeedup) {
			return fmt.Errorf("option: speedup %g: %w: want %g to %d", s, ErrBound, 1.0/grid.MaxSpeedup, grid.MaxSpeedup)
		}
	}
	return nil
}

func putOptionStates(all []grid.OptionState) (out []*pb.OptionState) {
	for _, o := range all {
		out = append(out, &pb.OptionState{Ect: putSpan(o.ECT), Backlog: putSpan(o.Ready), Why: uint32(o.Why)})
	}
	return out
}

func getOptionStates(dst []grid.OptionState, ps []*pb.OptionState) ([]grid.OptionState, error) {
	for _, p := range ps {
		ect, err := getSpan("ect", p.Ect)
		if err != nil {
			return nil, err
		}
		ready, err := getSpan("backlog", p.Backlog)
		if err != nil {
			return nil, err
		}
		dst = append(dst, grid.OptionState{ECT: ect, Ready: ready, Why: getWhy(p.Why)})
	}
	return dst, nil
}

func optionStates(all []grid.OptionState) error {
	if len(all) > grid.MaxOptions {
		return fmt.Errorf("%d options: %w: want at most %d", len(all), ErrBound, grid.MaxOptions)
	}
	for i := range all {
		if err := spans("ect", all[i].ECT, "backlog", all[i].Ready); err != nil {
			return err
		}
	}
	return nil
}
