package wire

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

func TestMalformed(t *testing.T) {
	poll := example(t, grid.KindPoll)
	group := protowire.AppendTag(nil, 70, protowire.StartGroupType)
	for name, b := range map[string][]byte{
		"nothing":      {},
		"cut":          poll[:len(poll)-1],
		"two bodies":   append(append([]byte{}, poll...), poll...),
		"rubbish":      []byte("GET / HTTP/1.1\r\n\r\n"),
		"body a group": protowire.AppendTag(nil, 2, protowire.StartGroupType),
		"a group":      append(append([]byte{}, poll...), group...),
		"body a word":  {2 << 3, 1},
		"no body":      {66<<3&0x7f | 0x80, 4, 1},
		"field number": {0, 0},
		"twice": frameBytes(grid.KindPoll, append(protowire.AppendVarint(protowire.AppendTag(nil, 3, 0), 1),
			protowire.AppendVarint(protowire.AppendTag(nil, 3, 0), 1)...)),
		"other type": frameBytes(grid.KindPoll, protowire.AppendFixed32(protowire.AppendTag(nil, 3, protowire.Fixed32Type),
			1)),
		"not text": frameBytes(grid.KindPoll, protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType),
			"\xff")),
	} {
		var c Codec
		var m grid.Message
		if err := c.Decode(b, &m, Open); !errors.Is(err, ErrMalformed) && !(name == "twice" && errors.Is(err, ErrBound)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var c Codec
	var m grid.Message
	if err := c.Decode(make([]byte, MaxFrame+1), &m, Open); !errors.Is(err, ErrSize) {
		t.Error(err)
	}
}

func frameBytes(k grid.Kind, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, protowire.Number(k), protowire.BytesType), body)
}

// A frame of nothing but empty elements must not allocate many times its size.
func TestEmptyElementsAreCheap(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var inputs []byte
	for range 300_000 {
		inputs = append(inputs, 7<<3|2, 0)
	}
	spec := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), inputs)
	b := frameBytes(grid.KindOffer, spec)
	var c Codec
	var m grid.Message
	n := testing.AllocsPerRun(1, func() {
		if err := c.Decode(b, &m, Open); !errors.Is(err, ErrBound) {
			t.Fatal(err)
		}
	})
	if n > 20 {
		t.Errorf("%v allocations", n)
	}
}

func TestLimits(t *testing.T) {
	for k := range grid.Kind(grid.Kinds) {
		t.Logf("%-10s %d", k, Limit(k))
		if k > 0 && (Limit(k) <= 0 || Limit(k) > MaxFrame) {
			t.Errorf("%s: %d", k, Limit(k))
		}
	}
	if Limit(0) != 0 || Limit(grid.Kind(grid.Kinds)) != 0 || Limit(255) != 0 {
		t.Error("a limit of a kind that is none")
	}
	if MaxFrame > 2<<20 {
		t.Errorf("largest frame: %d", MaxFrame)
	}
	if Limit(grid.KindDigest) > int(grid.MaxDigest)+4096 || Limit(grid.KindPoll) > 4096 {
		t.Error("loose limits")
	}
	if MaxSpan+MaxSpan < 0 {
		t.Error("two spans do not add up")
	}
}

// What no message of a kind says is not decoded either: nobody checks it.
func TestOnlyBeatsHaveReports(t *testing.T) {
	for kind, want := range map[grid.Kind]int{grid.KindBeat: 1, grid.KindDrop: 0, grid.KindAsk: 0, grid.KindResultAck: 0,
		grid.KindAccept: 0} {
		var c Codec
		var m grid.Message
		p := c.putAttempts([]grid.AttemptID{exampleAttempt(0)})
		p.Started, p.Reports = true, []*pb.Report{{Said: true, Done: 1}}
		if err := new(Codec).Decode(frame(t, kind, p), &m, Open); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if len(m.Reports) != want || m.Started != (kind == grid.KindAccept) {
			t.Errorf("%s: %d reports, started %v", kind, len(m.Reports), m.Started)
		}
	}
}
