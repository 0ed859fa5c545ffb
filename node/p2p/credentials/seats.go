package credentials

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
)

// Bounds of exchanges with peers that have dialled, at a time. Who finds no room waits, within the time that an
// exchange may take.
const (
	seatsPerNet = 16
	seatsInAll  = 128
)

var errBusy = errors.New("too many nodes connect at once")

// seats bounds the exchanges at a time, in all and from each network: an IPv4 address, or an IPv6 /56.
type seats struct {
	all chan struct{}

	mu   sync.Mutex
	nets map[netip.Prefix]*netSeats
}

type netSeats struct {
	places chan struct{}
	users  int // that hold or wait for one
}

func newSeats() *seats {
	return &seats{all: make(chan struct{}, seatsInAll), nets: map[netip.Prefix]*netSeats{}}
}

// take waits for a seat for an address, and returns what gives it back.
func (s *seats) take(ctx context.Context, from net.Addr) (free func(), err error) {
	at := netOf(from)
	s.mu.Lock()
	n := s.nets[at]
	if n == nil {
		n = &netSeats{places: make(chan struct{}, seatsPerNet)}
		s.nets[at] = n
	}
	n.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if n.users--; n.users == 0 {
			delete(s.nets, at)
		}
	}
	select {
	case n.places <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, errBusy
	}
	select {
	case s.all <- struct{}{}:
	case <-ctx.Done():
		<-n.places
		leave()
		return nil, errBusy
	}
	return func() { <-s.all; <-n.places; leave() }, nil
}

// netOf returns the network of an address; that of no address, as of a relayed connection, is the zero value.
func netOf(from net.Addr) netip.Prefix {
	if from == nil {
		return netip.Prefix{}
	}
	at, err := netip.ParseAddrPort(from.String())
	if err != nil {
		return netip.Prefix{}
	}
	bits := 32
	if at.Addr().Unmap().Is6() {
		bits = 56
	}
	p, _ := at.Addr().Unmap().WithZone("").Prefix(bits)
	return p
}
