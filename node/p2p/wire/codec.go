package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// Codec encodes and decodes messages. It holds reused buffers: use one for each stream or goroutine, and do not
// copy it. The zero value is ready.
type Codec struct {
	// Specs decodes the spec of a job that a message carries, as OpenSpec does; it must not keep the bytes. nil =
	// OpenSpec.
	Specs func(job grid.JobID, encoded []byte) (*grid.JobSpec, error)

	digest   pb.Digest
	entries  []*pb.Entry
	poll     pb.Poll
	state    pb.State
	rates    pb.Rates
	attempts pb.Attempts
}

// maxWrite bounds a write to a register, and an offer: few jobs have one part as large as it may be, and none has all.
const maxWrite = 2 << 20

// maxKind is the highest kind that the wire has room for; higher fields of a frame are extras of later versions and
// skipped.
const maxKind = 63

var (
	marshal   = proto.MarshalOptions{Deterministic: true}
	marshalSz = proto.MarshalOptions{Deterministic: true, UseCachedSize: true}
	unmarshal = proto.UnmarshalOptions{Merge: true, DiscardUnknown: true}
)

// Limit returns the largest encoded size of a message of the kind in bytes, 0 for kinds that this version does not
// know. It applies to encoding and decoding.
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
	l[grid.KindOffer] = min(l[grid.KindOffer], maxWrite)
	// the spec and the entries of a register are written in several messages
	l[grid.KindWrite] = min(l[grid.KindWrite], maxWrite)
	l[grid.KindCampaign] = min(l[grid.KindCampaign], maxWrite)
	l[grid.KindVote] = min(l[grid.KindVote], maxWrite)
	l[grid.KindAwait], l[grid.KindAwaited] = l[grid.KindWrite], l[grid.KindWrite]
	return l
}()

// Append appends m's encoding to dst. Ads are sent as their Sealed bytes; an ad without them, which can only be the
// node's own, as what seal returns. A message that no peer would accept is an error (ErrBound, ErrSize, ErrKind)
// and dst is returned unchanged. Texts for people (Refusal.Detail, Result.Error) are cut and cleaned, and durations
// cut to MaxSpan, rather than the message refused.
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

// Decode decodes one message, the whole of b, into m, whose memory it reuses; nothing of m aliases b. Ads, JobSpecs
// and Results are fresh memory. open decodes the sealed bytes of an ad, as Open does; it must not keep them, and a
// nil ad without an error leaves that entry out of a digest. On error, which wraps one of the Err of this package
// or is open's, m is empty.
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

// KindOf returns the kind of an encoded message from its first bytes only, so that a frame can be compared with
// Limit before the rest of it is read; false if they do not tell.
func KindOf(b []byte) (grid.Kind, bool) {
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 || typ != protowire.BytesType || num > maxKind {
		return 0, false
	}
	return grid.Kind(num), true
}

// split returns the one body of a frame and its kind.
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
