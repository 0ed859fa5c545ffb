package wire

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// The tables of bounds contain every field of the schema with its name, number and type.
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
			case fd.Kind() != protoreflect.StringKind && fd.Kind() != protoreflect.BytesKind &&
				fd.Kind() != protoreflect.MessageKind:
				typ = protowire.VarintType
			}
			if typ != f.typ {
				t.Errorf("%s.%s: wire type %d in the shape, %d in the schema", d.FullName(), f.name, f.typ, typ)
			}
			if f.sub == specShape { // its bytes are carried as its origin signed them
				same(f.sub, (&pb.JobSpec{}).ProtoReflect().Descriptor())
			} else if (f.sub != nil) != (fd.Kind() == protoreflect.MessageKind) {
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
	same(jobQueryShape, (&pb.JobQuery{}).ProtoReflect().Descriptor())
	same(jobRowsShape, (&pb.JobRows{}).ProtoReflect().Descriptor())
}

// Encoding a poll, a state and a beat allocates nothing, and decoding only their texts and columns.
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
		a := grid.AttemptID{Task: grid.TaskID{Index: grid.MaxCount - 1}, Attempt: grid.Attempt{Epoch: math.MaxUint32,
			N: math.MaxUint32}}
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
	s := &grid.JobSpec{Engine: grid.EngineProcess, Count: 1, Command: []string{"x"},
		Name:    strings.Repeat("n", grid.MaxName),
		Timeout: grid.MaxTimeout, Needs: grid.Needs{Resources: grid.Resources{CPU: 1}}}
	for len(s.Command) < grid.MaxArgs-1 {
		s.Command = append(s.Command, "")
	}
	s.Command = append(s.Command, strings.Repeat("w", int(grid.MaxCommand)-grid.MaxArgs-1))
	for range grid.MaxEnv {
		s.Env = append(s.Env, grid.Var{Name: "V", Value: strings.Repeat("v", int(grid.MaxEnvSize)/grid.MaxEnv-3)})
	}
	for range grid.MaxFiles {
		s.Inputs = append(s.Inputs, grid.File{Path: strings.Repeat("p", grid.MaxPath), Blob: grid.BlobID{1},
			Size: math.MaxInt64, Exec: true})
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
