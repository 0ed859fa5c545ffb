package wire

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// What is said is what is heard, with one codec and one message used again for all kinds.
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
		clear(frame) // nothing may be an alias of it
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
	if err := c.Decode(b, &m, func([]byte) (*grid.Ad, error) { return nil, broken }); !errors.Is(err, broken) || m.Kind != 0 {
		t.Errorf("%v, kind %v", err, m.Kind)
	}
}

// Texts for people and endless durations do not cost the message.
func TestCutRatherThanLost(t *testing.T) {
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
	if d := got.Refusal.Detail; len(d) > grid.MaxText || len(d) < grid.MaxText-2 || !strings.HasPrefix(d, "a b ?ü") {
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

// The tables of bounds know every field of the schema by its name, number and type.
func TestShapesAreTheSchema(t *testing.T) {
	seen := map[protoreflect.FullName]bool{}
	var same func(s *shape, d protoreflect.MessageDescriptor)
	same = func(s *shape, d protoreflect.MessageDescriptor) {
		seen[d.FullName()] = true
		if len(s.fields) > maxFields {
			t.Errorf("%s: %d fields", s.name, len(s.fields))
		}
		known := 0
		for num, f := range s.fields {
			if f.name == "" {
				continue
			}
			known++
			fd := d.Fields().ByNumber(protoreflect.FieldNumber(num))
			if fd == nil || string(fd.Name()) != f.name {
				t.Errorf("%s: field %d is %q in the shape of %s and %v in the schema", d.FullName(), num, f.name, s.name, fd)
				continue
			}
			typ := protowire.BytesType
			switch {
			case fd.IsPacked():
			case fd.Kind() == protoreflect.DoubleKind || fd.Kind() == protoreflect.Fixed64Kind:
				typ = protowire.Fixed64Type
			case fd.Kind() != protoreflect.StringKind && fd.Kind() != protoreflect.BytesKind && fd.Kind() != protoreflect.MessageKind:
				typ = protowire.VarintType
			}
			if typ != f.typ {
				t.Errorf("%s.%s: wire type %d in the shape, %d in the schema", d.FullName(), f.name, f.typ, typ)
			}
			if (f.sub != nil) != (fd.Kind() == protoreflect.MessageKind) {
				t.Errorf("%s.%s: message or not?", d.FullName(), f.name)
			} else if f.sub != nil {
				same(f.sub, fd.Message())
			}
		}
		if known != d.Fields().Len() {
			t.Errorf("%s: %d fields in the shape of %s, %d in the schema", d.FullName(), known, s.name, d.Fields().Len())
		}
	}
	body := (&pb.Message{}).ProtoReflect().Descriptor().Oneofs().ByName("body").Fields()
	for i := range body.Len() {
		fd := body.Get(i)
		k := grid.Kind(fd.Number())
		if string(fd.Name()) != k.String() {
			t.Errorf("kind %d is %q in the schema and %q in package grid", k, fd.Name(), k)
		}
		same(bodyShapes[k], fd.Message())
	}
	if body.Len() != grid.Kinds-1 {
		t.Errorf("%d kinds in the schema, %d in package grid", body.Len(), grid.Kinds-1)
	}
	same(helloShape, (&pb.Hello{}).ProtoReflect().Descriptor())
	same(tokenShape, (&pb.Token{}).ProtoReflect().Descriptor())
	same(adShape, (&pb.Ad{}).ProtoReflect().Descriptor())
}

// A poll, a state and a beat cost no memory to say, and to hear only their texts and columns.
func TestEncodeDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var c Codec
	var m, got grid.Message
	buf := make([]byte, 0, 64<<10)
	for _, k := range []grid.Kind{grid.KindPoll, grid.KindState, grid.KindBeat} {
		exampleMessage(t, k, &m)
		encode := func() {
			if _, err := c.Append(buf, &m, nil); err != nil {
				t.Fatal(err)
			}
		}
		encode()
		if n := testing.AllocsPerRun(100, encode); n > 0 {
			t.Errorf("%s: %v allocations to encode", k, n)
		}
		b, _ := c.Append(nil, &m, nil)
		n := testing.AllocsPerRun(100, func() {
			if err := c.Decode(b, &got, Open); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%s: %d bytes, %v allocations to decode", k, len(b), n)
		if most := map[grid.Kind]float64{grid.KindPoll: 5, grid.KindState: 4, grid.KindBeat: 5}[k]; n > most {
			t.Errorf("%s: %v allocations to decode, want at most %v", k, n, most)
		}
	}
}

func TestLongestBeat(t *testing.T) {
	var m, got grid.Message
	m.Reset(grid.KindBeat)
	for i := range grid.MaxBeats {
		a := grid.AttemptID{Task: grid.TaskID{Index: grid.MaxCount - 1}, Attempt: grid.Attempt{Epoch: math.MaxUint32, N: math.MaxUint32}}
		a.Task.Job.Nonce[0], a.Task.Job.Nonce[1] = byte(i), byte(i>>8)
		m.Attempts = append(m.Attempts, a)
	}
	var c Codec
	b, err := c.Append(nil, &m, nil)
	if err == nil {
		err = c.Decode(b, &got, Open)
	}
	if err != nil || len(got.Attempts) != grid.MaxBeats {
		t.Fatalf("%d attempts: %v", len(got.Attempts), err)
	}
	m.Attempts = append(m.Attempts, m.Attempts[0])
	if b, err := c.Append([]byte("x"), &m, nil); !errors.Is(err, ErrBound) || string(b) != "x" {
		t.Errorf("one more: %v, %d bytes", err, len(b))
	}
}

// The largest job that Check accepts can be offered.
func TestLargestOffer(t *testing.T) {
	s := &grid.JobSpec{Engine: grid.EngineProcess, Count: 1, Command: []string{"x"}, Name: strings.Repeat("n", grid.MaxName),
		Timeout: grid.MaxTimeout, Needs: grid.Needs{Resources: grid.Resources{CPU: 1}}}
	for len(s.Command) < grid.MaxArgs-1 {
		s.Command = append(s.Command, "")
	}
	s.Command = append(s.Command, strings.Repeat("w", int(grid.MaxCommand)-grid.MaxArgs-1))
	for range grid.MaxEnv {
		s.Env = append(s.Env, grid.Var{Name: "V", Value: strings.Repeat("v", int(grid.MaxEnvSize)/grid.MaxEnv-3)})
	}
	for range grid.MaxFiles {
		s.Inputs = append(s.Inputs, grid.File{Path: strings.Repeat("p", grid.MaxPath), Blob: grid.BlobID{1}, Size: math.MaxInt64, Exec: true})
	}
	for range grid.MaxGlobs {
		s.Outputs = append(s.Outputs, strings.Repeat("o", grid.MaxPath))
	}
	for range grid.MaxLabels {
		l := grid.LabelNeed{Key: strings.Repeat("k", grid.MaxLabel)}
		for range grid.MaxValues {
			l.Values = append(l.Values, strings.Repeat("v", grid.MaxLabel))
		}
		s.Needs.Labels = append(s.Needs.Labels, l)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	m := grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{Spec: s, Lease: time.Minute}}
	var c Codec
	b, err := c.Append(nil, &m, nil)
	if err == nil {
		err = c.Decode(b, &m, Open)
	}
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s, m.Offer.Spec); d != "" {
		t.Error(d)
	}
	t.Logf("%d bytes, limit %d", len(b), Limit(grid.KindOffer))
}
