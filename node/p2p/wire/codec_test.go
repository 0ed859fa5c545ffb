package wire

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// What is encoded is what is decoded, with one codec and one message reused for all kinds.
func TestRoundTrip(t *testing.T) {
	var send, receive Codec
	var said, heard grid.Message
	var frame []byte
	rapid.Check(t, func(t *rapid.T) {
		k := genKind.Draw(t, "kind")
		genMessage(t, k, &said)
		var err error
		if frame, err = send.Append(frame[:0], &said, nil); err != nil {
			t.Fatal(err)
		}
		if len(frame) > Limit(k) {
			t.Fatalf("%d bytes, limit %d", len(frame), Limit(k))
		}
		if got, ok := KindOf(frame); got != k || !ok {
			t.Fatalf("KindOf = %v", got)
		}
		if err := receive.Decode(frame, &heard, Open); err != nil {
			t.Fatal(err)
		}
		clear(frame) // nothing may alias it
		if d := cmp.Diff(&said, &heard, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

// The driver's own ad has no signed bytes yet; seal gives them.
func TestOwnAdIsSealed(t *testing.T) {
	key := testKey(1)
	own := exampleAd(key)
	m := grid.Message{Kind: grid.KindBye, Digest: []grid.AdEntry{{Ad: own}}}
	var c Codec
	b, err := c.Append(nil, &m, func(a *grid.Ad) []byte {
		if a != own {
			t.Error("another ad")
		}
		sealed, err := Seal(key, a)
		if err != nil {
			t.Error(err)
		}
		return sealed
	})
	if err != nil {
		t.Fatal(err)
	}
	if own.Sealed != nil {
		t.Error("the ad was changed")
	}
	if err := c.Decode(b, &m, Open); err != nil || m.Digest[0].Ad.Node != own.Node {
		t.Fatal(err)
	}
	m.Digest[0].Ad = own
	if _, err := c.Append(nil, &m, nil); !errors.Is(err, ErrBound) {
		t.Errorf("without signed bytes: %v", err)
	}
}

func TestDigestLeavesOut(t *testing.T) {
	var c Codec
	var m grid.Message
	b := example(t, grid.KindDigest)
	skip := func([]byte) (*grid.Ad, error) { return nil, nil }
	if err := c.Decode(b, &m, skip); err != nil || len(m.Digest) != 0 {
		t.Errorf("%d ads, %v", len(m.Digest), err)
	}
	if err := c.Decode(example(t, grid.KindBye), &m, skip); !errors.Is(err, ErrBound) {
		t.Errorf("a bye without its ad: %v", err)
	}
	broken := errors.New("broken")
	if err := c.Decode(b, &m, func([]byte) (*grid.Ad, error) { return nil, broken }); !errors.Is(err, broken) ||
		m.Kind != 0 {
		t.Errorf("%v, kind %v", err, m.Kind)
	}
}

// Long texts for people and endless durations do not make a message invalid.
func TestLongTextsAreCut(t *testing.T) {
	var c Codec
	var m, got grid.Message
	m.Reset(grid.KindRefuse)
	m.Attempts = append(m.Attempts, grid.AttemptID{})
	m.Refusal = grid.Refusal{Why: grid.WhyFetch, Detail: "a\x00b\n\xff" + strings.Repeat("ü", 400)}
	b, err := c.Append(nil, &m, nil)
	if err == nil {
		err = c.Decode(b, &got, Open)
	}
	if err != nil {
		t.Fatal(err)
	}
	if d := got.Refusal.Detail; len(d) > grid.MaxText || len(d) < grid.MaxText-2 || !strings.HasPrefix(d, "a?b ?ü") {
		t.Errorf("%d bytes: %.20q", len(d), d)
	}
	m.Reset(grid.KindState)
	m.State.ECT = math.MaxInt64
	if b, err = c.Append(nil, &m, nil); err == nil {
		err = c.Decode(b, &got, Open)
	}
	if err != nil || got.State.ECT != MaxSpan {
		t.Errorf("%v, %v", got.State.ECT, err)
	}
}

// A later version may add reasons, causes and fields.
func TestLaterVersion(t *testing.T) {
	var c Codec
	var m grid.Message
	attempt := putAttempt(grid.AttemptID{})
	b := frame(t, grid.KindRefuse, &pb.Refuse{Attempt: attempt, Why: 200})
	if err := c.Decode(b, &m, Open); err != nil || m.Refusal.Why != grid.WhyFailed {
		t.Errorf("%v, %v", m.Refusal.Why, err)
	}
	b = frame(t, grid.KindRefuse, &pb.Refuse{Attempt: attempt, Why: uint32(grid.WhyNever)})
	if err := c.Decode(b, &m, Open); err != nil || m.Refusal.Why != grid.WhyFailed {
		t.Errorf("%v, %v", m.Refusal.Why, err)
	}
	b = frame(t, grid.KindResult, &pb.Ended{Attempt: attempt, Result: &pb.Result{Cause: 77}})
	if err := c.Decode(b, &m, Open); err != nil || m.Result.Cause != grid.Failed {
		t.Error(err)
	}
	b = protowire.AppendTag(example(t, grid.KindPoll), 64, protowire.BytesType)
	b = protowire.AppendString(b, "something new")
	if err := c.Decode(b, &m, Open); err != nil || m.Poll.Class != "process:sim" {
		t.Error(err)
	}
	for k := range grid.Kind(grid.Kinds) {
		if bodyShapes[k] == nil {
			continue
		}
		_, body, err := split(example(t, k))
		if err != nil {
			t.Fatal(err)
		}
		body = protowire.AppendTag(append([]byte{}, body...), 900, protowire.VarintType)
		b = protowire.AppendTag(nil, protowire.Number(k), protowire.BytesType)
		if err := c.Decode(protowire.AppendBytes(b, protowire.AppendVarint(body, 7)), &m, Open); err != nil {
			t.Errorf("a new field in %s: %v", k, err)
		}
	}
}

// A member's free deposit quota round-trips: none for a write, and how much for a further job.
func TestFreeQuotaRoundTrip(t *testing.T) {
	var c Codec
	for _, want := range []grid.Message{
		{Kind: grid.KindWriteAck, Register: grid.RegisterMessage{Job: exampleJob(), Epoch: 1, Seq: 2,
			Answer: grid.RegisterFull}},
		{Kind: grid.KindKeepaliveAck, Register: grid.RegisterMessage{Seq: 7, Answer: grid.RegisterOK, Room: grid.MaxCount}},
	} {
		var got grid.Message
		b, err := c.Append(nil, &want, nil)
		if err == nil {
			err = c.Decode(b, &got, Open)
		}
		if err != nil || got.Register.Answer != want.Register.Answer || got.Register.Room != want.Register.Room {
			t.Errorf("%v: %v, answer %v, room %d: want %v and %d", want.Kind, err, got.Register.Answer, got.Register.Room,
				want.Register.Answer, want.Register.Room)
		}
	}
}

// Every reason that this version has arrives as it was sent: one that counts as a failure would blame the worker.
func TestReasonsArriveAsTheyWereSent(t *testing.T) {
	for why := grid.WhyNone; why < grid.Why(grid.Whys); why++ {
		if got := getWhy(uint32(why)); got != why && why != grid.WhyNever {
			t.Errorf("%q arrives as %q", why, got)
		}
	}
}
