package wire

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// body returns the generated message for m's kind, filled in.
func (c *Codec) body(m *grid.Message, seal func(*grid.Ad) []byte) (proto.Message, error) {
	switch m.Kind {
	case grid.KindDigest, grid.KindBye:
		return c.putDigest(m.Digest, seal)
	case grid.KindPoll, grid.KindWaiting, grid.KindPull, grid.KindNoWork:
		return c.putPoll(&m.Poll), nil
	case grid.KindState:
		return c.putState(&m.State), nil
	case grid.KindOffer:
		o := &m.Offer
		spec, err := specBytes(o.Spec)
		nodes, ranks, shares := putPlaces(o.Places)
		left, from := grid.SplitInputs(o.Inputs)
		return &pb.Offer{Attempt: putAttempt(o.ID), Spec: spec, Class: o.Class,
			Lease: putSpan(o.Lease), Age: putSpan(o.Age), Stamp: o.Stamp, Members: putNodes(o.Members), Stays: o.Stays,
			Changes: o.Changes,
			Pulled:  o.Pulled, Asks: o.Asks, Barred: putNodes(o.Barred), Inputs: putFiles(left),
			Checkpoint: putFiles(from), PlaceNodes: nodes, PlaceRanks: ranks, PlaceShares: shares,
			BeforeRanks: o.Before.Ranks, BeforeShares: o.Before.Shares,
			Option: uint32(o.Option), Assigned: []byte(o.Assigned),
			Evidence: []byte(o.Evidence), Links: []byte(o.Links)}, err
	case grid.KindAccept, grid.KindBeat, grid.KindVacate:
		return putReports(c.putAttempts(m.Attempts), m), nil
	case grid.KindResultAck, grid.KindDrop, grid.KindAsk:
		return c.putAttempts(m.Attempts), nil
	case grid.KindRefuse, grid.KindDepositAck:
		p := &pb.Refuse{Attempt: putAttempt(m.Attempts[0]), Why: uint32(m.Refusal.Why), Detail: clean(m.Refusal.Detail),
			Prices: putPrices(m.Prices)}
		if !m.Puller.IsZero() {
			p.Puller = m.Puller[:]
		}
		return p, nil
	case grid.KindResult:
		return &pb.Ended{Attempt: putAttempt(m.Attempts[0]), Result: putResult(m.Result)}, nil
	case grid.KindDeposit:
		return &pb.Ended{Attempt: putAttempt(m.Attempts[0]), Result: putMaybe(m.Result)}, nil
	case grid.KindWrite, grid.KindCampaign, grid.KindVote, grid.KindAwait, grid.KindAwaited:
		return putRegister(&m.Register)
	case grid.KindWriteAck, grid.KindKeepalive, grid.KindKeepaliveAck, grid.KindTakeover, grid.KindStartLease,
		grid.KindStartLeaseAck:
		return c.putKeepalive(m), nil
	case grid.KindReserve, grid.KindReserveAck:
		return putReserve(m.Reserve), nil
	case grid.KindCheckpoint, grid.KindCheckpointAck, grid.KindCheckpointKeep:
		return putCheckpoint(m), nil
	case grid.KindMiss:
		return putFind(&m.Find), nil
	case grid.KindFind, grid.KindCall, grid.KindHit:
		d, err := c.putDigest(m.Digest, seal)
		if err != nil {
			return nil, err
		}
		s := &pb.Search{Find: putFind(&m.Find)}
		if len(d.Ads) > 0 {
			s.Ad = d.Ads[0]
		}
		return s, nil
	}
	return nil, fmt.Errorf("%w %d", ErrKind, m.Kind)
}

// read decodes the body of m.Kind into m.
func (c *Codec) read(b []byte, m *grid.Message, open func([]byte) (*grid.Ad, error)) error {
	switch m.Kind {
	case grid.KindDigest, grid.KindBye:
		return c.readDigest(b, m, open)
	case grid.KindPoll, grid.KindWaiting, grid.KindPull, grid.KindNoWork:
		return c.readPoll(b, &m.Poll)
	case grid.KindState:
		return c.readState(b, &m.State)
	case grid.KindOffer:
		return c.readOffer(b, &m.Offer)
	case grid.KindAccept, grid.KindResultAck, grid.KindBeat, grid.KindDrop, grid.KindAsk,
		grid.KindVacate:
		return c.readAttempts(b, m)
	case grid.KindRefuse, grid.KindDepositAck:
		return readRefuse(b, m)
	case grid.KindResult:
		return readEnded(b, m)
	case grid.KindDeposit:
		return readDeposit(b, m)
	case grid.KindWrite, grid.KindCampaign, grid.KindVote, grid.KindAwait, grid.KindAwaited:
		return c.readRegister(b, &m.Register)
	case grid.KindWriteAck, grid.KindKeepalive, grid.KindKeepaliveAck, grid.KindTakeover, grid.KindStartLease,
		grid.KindStartLeaseAck:
		return c.readKeepalive(b, m)
	case grid.KindReserve, grid.KindReserveAck:
		return readReserve(b, m)
	case grid.KindCheckpoint, grid.KindCheckpointAck, grid.KindCheckpointKeep:
		return readCheckpoint(b, m)
	case grid.KindMiss:
		var f pb.Find
		if err := parse(b, &f); err != nil {
			return err
		}
		return getFind(&f, &m.Find)
	case grid.KindFind, grid.KindCall, grid.KindHit:
		return readSearch(b, m, open)
	}
	return fmt.Errorf("%w %d", ErrKind, m.Kind)
}

// parse decodes bytes that a shape has already checked: only texts can still be invalid.
func parse(b []byte, m proto.Message) error {
	if err := unmarshal.Unmarshal(b, m); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}
