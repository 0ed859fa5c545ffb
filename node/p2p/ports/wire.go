package ports

import (
	"encoding/binary"
	"fmt"
	"io"

	"skep/exec/network"
	"skep/grid"
	"skep/node/p2p/wire"
)

// Protocol is the protocol of the streams between nodes of an attempt.
const Protocol = "/skep/ports/1"

// Request is the size of the request on such a stream: the attempt, and two bytes each, big endian, for the rank that
// asks, the rank that is asked for, and the port. The answer is a status of package wire; after StatusOK come the bytes
// of the connection. With port 0 a node asks on which ports ranks listen: after StatusOK come lists, each in place of
// the one before: the number of entries in two bytes, then a rank and a port for each, ordered.
const Request = wire.AttemptSize + 6

// ask is a request.
type ask struct {
	id   grid.AttemptID
	from int
	to   network.Endpoint // of port 0: the lists are asked for
}

func (a ask) encode() []byte {
	b := wire.AppendAttempt(make([]byte, 0, Request), a.id)
	for _, n := range [...]uint16{uint16(a.from), uint16(a.to.Rank), a.to.Port} {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return b
}

func decodeAsk(b []byte) ask {
	number := func(at int) int { return int(binary.BigEndian.Uint16(b[wire.AttemptSize+at:])) }
	return ask{id: wire.AttemptIn(b), from: number(0), to: network.Endpoint{Rank: number(2), Port: uint16(number(4))}}
}

const entrySize = 4 // bytes of a list's entry

func encodeList(all []network.Endpoint) []byte {
	b := binary.BigEndian.AppendUint16(make([]byte, 0, 2+entrySize*len(all)), uint16(len(all)))
	for _, e := range all {
		b = binary.BigEndian.AppendUint16(b, uint16(e.Rank))
		b = binary.BigEndian.AppendUint16(b, e.Port)
	}
	return b
}

// readList reads a list of at most so many entries, which are in order and may be in it.
func readList(r io.Reader, most int, may func(network.Endpoint) bool) (all []network.Endpoint, err error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	count := int(binary.BigEndian.Uint16(head[:]))
	if count > most {
		return nil, fmt.Errorf("%w: %d entries: want at most %d", errFalse, count, most)
	}
	b := make([]byte, entrySize*count)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	for ; len(b) > 0; b = b[entrySize:] {
		e := network.Endpoint{Rank: int(binary.BigEndian.Uint16(b)), Port: binary.BigEndian.Uint16(b[2:])}
		if !may(e) || len(all) > 0 && all[len(all)-1].Compare(e) >= 0 {
			return nil, fmt.Errorf("%w: rank %d, port %d", errFalse, e.Rank, e.Port)
		}
		all = append(all, e)
	}
	return all, nil
}
