package wire

import (
	"fmt"
	"math"
	"time"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// Version is this version of the protocol. Peers of another version that exchange Hellos can still talk: each sends
// only kinds that the other lists.
const Version = 1

// MaxHello bounds an encoded Hello in bytes.
const MaxHello = 512

// Hello is the first frame of a control stream, in both directions.
type Hello struct {
	Version  uint32       // 1 or more
	Kinds    grid.KindSet // messages that the sender understands, those of later versions too
	Software string       // for people, at most grid.MaxName bytes
	Boot     uint64       // starts of the sender so far
	Features grid.FeatureSet

	// Instance is drawn at random at each start of a process, so that two processes with one identity are told apart; 0
	// where it is not told. Other, in an answer, is another instance with the receiver's identity that is connected to
	// the sender; 0 = none. It is a claim, which package instance has proved.
	Instance, Other uint64

	// Known is the newest statement of the receiver's generation that the sender has heard from it (package generation),
	// and KnownAge how long ago that was; "" = none.
	Known    string
	KnownAge time.Duration
}

// MaxKnown bounds Hello.Known in bytes.
const MaxKnown = 128

// Append appends h's encoding to dst. Software is cleaned and cut.
func (h *Hello) Append(dst []byte) []byte {
	p := pb.Hello{Version: h.Version, Kinds: uint64(h.Kinds), Software: grid.Clean(h.Software, grid.MaxName), Boot: h.Boot,
		Features: uint64(h.Features), Instance: h.Instance, Other: h.Other, Known: []byte(h.Known),
		KnownAge: uint64(max(h.KnownAge, 0))}
	out, err := marshal.MarshalAppend(dst, &p)
	if err != nil {
		panic("wire: a hello of clean text that cannot be encoded: " + err.Error())
	}
	return out
}

// Decode reads what Append wrote. Errors wrap ErrSize, ErrMalformed or ErrBound, and h is then empty.
func (h *Hello) Decode(b []byte) error {
	*h = Hello{}
	if len(b) > MaxHello {
		return fmt.Errorf("hello: %w: %d bytes, want at most %d", ErrSize, len(b), MaxHello)
	}
	if err := helloShape.check(b); err != nil {
		return err
	}
	var p pb.Hello
	if err := parse(b, &p); err != nil {
		return fmt.Errorf("hello: %w", err)
	}
	if p.Version == 0 {
		return fmt.Errorf("hello: %w: version 0, want 1 or more", ErrBound)
	}
	software := cleanText(p.Software)
	if err := text("hello.software", software, grid.MaxName); err != nil {
		return err
	}
	*h = Hello{Version: p.Version, Kinds: grid.KindSet(p.Kinds), Software: software, Boot: p.Boot,
		Features: grid.FeatureSet(p.Features), Instance: p.Instance, Other: p.Other, Known: string(p.Known),
		KnownAge: time.Duration(min(p.KnownAge, math.MaxInt64))}
	return nil
}
