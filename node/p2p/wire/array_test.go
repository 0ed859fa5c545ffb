package wire

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skep/node/p2p/wire/internal/pb"
)

// An array of every kind of value is read as it was signed.
func TestArrayIsCarried(t *testing.T) {
	want := exampleArray()
	got, err := SealSpec(testKey(1), exampleJob(), want)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Array, got.Array, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

// An array whose columns do not fit together is an error, whoever signed it.
func TestMalformedArrays(t *testing.T) {
	for name, change := range map[string]func(p *pb.Array){
		"a name without a count":  func(p *pb.Array) { p.Names = append(p.Names, "x") },
		"a count without a name":  func(p *pb.Array) { p.Counts = append(p.Counts, 1) },
		"more values than come":   func(p *pb.Array) { p.Counts[2] = 1 << 31 },
		"half a range":            func(p *pb.Array) { p.Indices = p.Indices[:2] },
		"half an input condition": func(p *pb.Array) { p.Inputs = p.Inputs[:1] },
	} {
		p := putSpec(exampleArray())
		p.Submitter = &pb.Submitter{Node: putNode(exampleJob().Origin)}
		change(p.Array)
		b := resealed(append(encoded(t, p), make([]byte, sealSize)...))
		if s, err := OpenSpec(exampleJob(), b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}
