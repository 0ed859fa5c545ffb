package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// The job's origin signs submitter and capability for that job, or they are empty.
func TestForgedSpecs(t *testing.T) {
	good := []byte(exampleSealed(t).Sealed)
	if _, err := OpenSpec(exampleJob(), good); err != nil {
		t.Fatal(err)
	}
	body := good[:len(good)-sealSize]
	sealedBy := func(n byte, body []byte) []byte {
		sig, err := testKey(n).Sign(nil, append(putJob(exampleJob()), body...), jobContext)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Join([][]byte{body, sealHead, sig}, nil)
	}
	with := func(change func(p *pb.JobSpec)) []byte {
		var p pb.JobSpec
		if err := proto.Unmarshal(body, &p); err != nil {
			t.Fatal(err)
		}
		change(&p)
		return encoded(t, &p)
	}
	other := exampleJob()
	other.Nonce[0]++
	asAd, err := testKey(1).Sign(nil, append(putJob(exampleJob()), body...), adContext)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		job  grid.JobID
		b    []byte
		want error
	}{
		"of another job of the same origin": {other, good, ErrSignature},
		"signed by another node":            {exampleJob(), sealedBy(2, body), ErrSignature},
		"signed as an ad":                   {exampleJob(), bytes.Join([][]byte{body, sealHead, asAd}, nil), ErrSignature},
		"another user": {exampleJob(), bytes.Replace(good, []byte("ada"), []byte("eve"), 1),
			ErrSignature},
		"another command": {exampleJob(), bytes.Replace(good, []byte("--seed"), []byte("--need"), 1),
			ErrSignature},
		"another submitter than the origin": {exampleJob(),
			sealedBy(1, with(func(p *pb.JobSpec) { p.Submitter.Node = putNode(nodeOf(testKey(2))) })), ErrSignature},
		"a submitter without a signature":  {exampleJob(), body, ErrSignature},
		"a capability without a signature": {exampleJob(), with(func(p *pb.JobSpec) { p.Submitter = nil }), ErrSignature},
		"a field after the signature": {exampleJob(),
			protowire.AppendVarint(protowire.AppendTag(bytes.Clone(good), 13, protowire.VarintType), 1), ErrMalformed},
		"two signatures": {exampleJob(), append(bytes.Clone(good), good[len(body):]...), ErrMalformed},
		"a word that ends like a signature": {exampleJob(),
			sealedBy(1, protowire.AppendVarint(protowire.AppendTag(bytes.Clone(good), 4, protowire.BytesType),
				uint64(sealSize))), ErrMalformed},
		"half a signature": {exampleJob(), bytes.Join([][]byte{body, {sealHead[0], sealHead[1], 32}, good[len(good)-32:]},
			nil), ErrMalformed},
		"half a capability": {exampleJob(), sealedBy(1, with(func(p *pb.JobSpec) { p.Capability = p.Capability[:16] })),
			ErrBound},
		"nothing": {exampleJob(), nil, ErrMalformed},
	} {
		if s, err := OpenSpec(c.job, c.b); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v: want %v", name, s, err, c.want)
		}
	}
	s := exampleSpec()
	s.Submitter.Node = nodeOf(testKey(2))
	if _, err := SealSpec(testKey(1), exampleJob(), s); !errors.Is(err, ErrSignature) {
		t.Errorf("sealed for a submitter elsewhere: %v", err)
	}
}

// Fields that need a signature are not encoded without one, to peers or to disk.
func TestUnsignedClaimsAreNotSaid(t *testing.T) {
	s := exampleSpec()
	s.Capability[0] = 1
	var c Codec
	if _, err := c.Append(nil, &grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{ID: exampleAttempt(1), Spec: s}},
		nil); !errors.Is(err, ErrSignature) {
		t.Errorf("offer: %v", err)
	}
	if _, _, err := AppendRecord(nil, &grid.Record{Kind: grid.RecRegister, Register: grid.RegisterRecord{ID: exampleJob(),
		Spec: s}}); !errors.Is(err, ErrSignature) {
		t.Errorf("record: %v", err)
	}
}

// A spec is forwarded as its origin signed it, with the fields that this version does not know, through messages
// and records.
func TestSealedBytesAreCarried(t *testing.T) {
	s := exampleSealed(t)
	later := protowire.AppendVarint(protowire.AppendTag([]byte(s.Sealed[:len(s.Sealed)-sealSize]), 900,
		protowire.VarintType), 7)
	sealed := resealed(append(later, make([]byte, sealSize)...))
	s, err := OpenSpec(exampleJob(), sealed)
	if err != nil {
		t.Fatal(err)
	}
	var c Codec
	for range 2 {
		var m grid.Message
		b, err := c.Append(nil, &grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{ID: exampleAttempt(1), Spec: s}}, nil)
		if err == nil {
			err = c.Decode(b, &m, Open)
		}
		if err != nil {
			t.Fatal(err)
		}
		key, value, err := AppendRecord(nil,
			&grid.Record{Kind: grid.RecRegister, Register: grid.RegisterRecord{ID: exampleJob(), Spec: m.Offer.Spec}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := DecodeRecord(key, value)
		if err != nil {
			t.Fatal(err)
		}
		s = r.Register.Spec
	}
	if s.Sealed != string(sealed) || s.Submitter.User != "ada" || s.Access() != grid.AccessOwner {
		t.Errorf("%q, %+v, access %s", s.Sealed, s.Submitter, s.Access())
	}
}

// A node of the previous version reads the fields of a signed spec that it knows, and a spec without a signature is
// still read.
func TestSpecsOfTheVersionBefore(t *testing.T) {
	var p pb.JobSpec
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal([]byte(exampleSealed(t).Sealed), &p); err != nil {
		t.Fatal(err)
	}
	p.Submitter, p.Capability, p.Signature = nil, nil, nil
	if d := cmp.Diff(encoded(t, &p), encoded(t, putSpec(exampleSpec()))); d != "" {
		t.Error(d)
	}
	s, err := OpenSpec(exampleJob(), encoded(t, putSpec(exampleSpec())))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(exampleSpec(), s, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

// The long texts of a spec are stored once, as a part of its signed bytes; those that may outlive the job are
// copies.
func TestSealedSpecSharesItsTexts(t *testing.T) {
	s := exampleSealed(t)
	shared := func(text string) bool {
		from, at := uintptr(unsafe.Pointer(unsafe.StringData(s.Sealed))), uintptr(unsafe.Pointer(unsafe.StringData(text)))
		return at >= from && at < from+uintptr(len(s.Sealed))
	}
	for _, text := range []string{s.Command[0], s.Inputs[0].Path, s.Outputs[0], s.Env[0].Name, s.Env[0].Value} {
		if !shared(text) {
			t.Errorf("%q is a copy", text)
		}
	}
	for _, text := range []string{s.Name, s.Class, s.Engine, s.Policy, s.Submitter.User, s.Needs.Labels[0].Key,
		s.Needs.Labels[0].Values[0]} {
		if shared(text) || strings.TrimSpace(text) == "" {
			t.Errorf("%q keeps the whole spec", text)
		}
	}
}
