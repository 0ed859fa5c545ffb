package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// Codec turns messages into bytes and back. It holds buffers that are used again: one for each stream or
// goroutine, not to be copied. The zero value is ready.
type Codec struct {
	// Specs reads the spec of a job that a message carries, as OpenSpec does; the bytes are only lent to it. nil = OpenSpec.
	Specs func(job grid.JobID, encoded []byte) (*grid.JobSpec, error)

	digest   pb.Digest
	entries  []*pb.Entry
	poll     pb.Poll
	state    pb.State
	rates    pb.Rates
	attempts pb.Attempts
}

// maxWrite bounds a write to a register.
const maxWrite = 2 << 20

// maxKind is the highest number that the wire has room for as a kind; higher fields of a frame are extras
// of later versions and skipped.
const maxKind = 63

var (
	marshal   = proto.MarshalOptions{Deterministic: true}
	marshalSz = proto.MarshalOptions{Deterministic: true, UseCachedSize: true}
	unmarshal = proto.UnmarshalOptions{Merge: true, DiscardUnknown: true}
)

// Limit returns the largest encoded size of a message of the kind in bytes, 0 for kinds that this version
// does not know. It holds where a message is made and where it is read.
func Limit(k grid.Kind) int {
	if int(k) >= len(limits) {
		return 0
	}
	return limits[k]
}

// MaxFrame is the largest of all limits in bytes.
var MaxFrame = func() (n int) {
	for _, l := range limits {
		n = max(n, l)
	}
	return n
}()

var limits = func() (l [grid.Kinds]int) {
	for k, s := range bodyShapes {
		if s != nil {
			l[k] = s.limit() + slack
		}
	}
	l[grid.KindDigest] = int(grid.MaxDigest) + grid.MaxAds*8 + slack
	l[grid.KindWrite] = min(l[grid.KindWrite], maxWrite) // what a job is and how its tasks ended is written in turn
	l[grid.KindCampaign] = min(l[grid.KindCampaign], maxWrite)
	l[grid.KindVote] = min(l[grid.KindVote], maxWrite)
	return l
}()

// Append appends m's encoding to dst. Ads are sent as their Sealed bytes; one without them, which can only
// be the node's own, as what seal returns. A message that no peer would accept is an error (ErrBound,
// ErrSize, ErrKind) and dst comes back as it was. Of texts for people (Refusal.Detail, Result.Error) what is
// too long or not printable is left out, and durations are cut to MaxSpan, rather than the message lost.
func (c *Codec) Append(dst []byte, m *grid.Message, seal func(*grid.Ad) []byte) ([]byte, error) {
	if Limit(m.Kind) == 0 {
		return dst, fmt.Errorf("%w %d", ErrKind, m.Kind)
	}
	if err := check(m); err != nil {
		return dst, fmt.Errorf("%s: %w", m.Kind, err)
	}
	body, err := c.body(m, seal)
	if err != nil {
		return dst, fmt.Errorf("%s: %w", m.Kind, err)
	}
	size := marshal.Size(body)
	if size+8 > Limit(m.Kind) {
		return dst, fmt.Errorf("%s: %w: %d bytes, want at most %d", m.Kind, ErrSize, size, Limit(m.Kind)-8)
	}
	out := protowire.AppendTag(dst, protowire.Number(m.Kind), protowire.BytesType)
	out = protowire.AppendVarint(out, uint64(size))
	if out, err = marshalSz.MarshalAppend(out, body); err != nil {
		return dst, fmt.Errorf("%s: %w: %w", m.Kind, ErrBound, err)
	}
	return out, nil
}

// Decode reads one message, the whole of b, into m, whose memory it uses again; nothing of m is an alias of
// b. Ads, JobSpecs and Results are fresh memory. open reads the sealed bytes of an ad, as Open does; they
// are only lent to it, and a nil ad without an error leaves that entry out of a digest. On error, which wraps one of
// the Err of this package or is open's, m is empty.
func (c *Codec) Decode(b []byte, m *grid.Message, open func(sealed []byte) (*grid.Ad, error)) error {
	k, body, err := split(b)
	if err == nil {
		m.Reset(k)
		if err = bodyShapes[k].check(body); err == nil {
			err = c.read(body, m, open)
		}
		if err == nil {
			err = check(m)
		}
	}
	if err != nil {
		m.Reset(0)
		return fmt.Errorf("%s: %w", k, err)
	}
	return nil
}

// KindOf returns the kind of an encoded message after a look at its first bytes only, so that a frame can
// be held against Limit before the rest of it is read; false if they do not tell.
func KindOf(b []byte) (grid.Kind, bool) {
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 || typ != protowire.BytesType || num > maxKind {
		return 0, false
	}
	return grid.Kind(num), true
}

// split finds the one body of a frame and its kind.
func split(b []byte) (k grid.Kind, body []byte, err error) {
	if len(b) > MaxFrame {
		return 0, nil, fmt.Errorf("%w: %d bytes, want at most %d", ErrSize, len(b), MaxFrame)
	}
	for rest := b; len(rest) > 0; {
		num, typ, n := protowire.ConsumeTag(rest)
		if n < 0 || typ == protowire.StartGroupType || typ == protowire.EndGroupType {
			return k, nil, fmt.Errorf("%w: not a field", ErrMalformed)
		}
		rest = rest[n:]
		if n = protowire.ConsumeFieldValue(num, typ, rest); n < 0 {
			return k, nil, fmt.Errorf("%w: field %d is cut", ErrMalformed, num)
		}
		if num <= maxKind {
			if k != 0 || typ != protowire.BytesType {
				return k, nil, fmt.Errorf("%w: want one body", ErrMalformed)
			}
			k = grid.Kind(num)
			body, _ = protowire.ConsumeBytes(rest)
		}
		rest = rest[n:]
	}
	switch {
	case k == 0:
		return 0, nil, fmt.Errorf("%w: no body", ErrMalformed)
	case Limit(k) == 0:
		return k, nil, fmt.Errorf("%w %d", ErrKind, k)
	case len(b) > Limit(k):
		return k, nil, fmt.Errorf("%w: %d bytes, want at most %d", ErrSize, len(b), Limit(k))
	}
	return k, body, nil
}
