package wire

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

func TestSealAndOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, key := genAd(t)
		sealed, err := Seal(key, a)
		if err != nil {
			t.Fatal(err)
		}
		if a.Sealed != nil {
			t.Fatal("Seal changed the ad")
		}
		again := bytes.Clone(sealed)
		got, err := Open(again)
		if err != nil {
			t.Fatal(err)
		}
		clear(again)
		if !bytes.Equal(got.Sealed, sealed) {
			t.Fatal("Sealed differs")
		}
		a.Sealed = sealed
		if d := cmp.Diff(a, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

// No byte of a sealed ad can be changed.
func TestForgedAd(t *testing.T) {
	key := testKey(1)
	sealed, err := Seal(key, exampleAd(key))
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		for _, bit := range []byte{1, 0x80} {
			forged := bytes.Clone(sealed)
			forged[i] ^= bit
			if _, err := Open(forged); err == nil {
				t.Fatalf("byte %d changed and still opened", i)
			}
		}
	}
	for i := range sealed {
		if _, err := Open(sealed[:i]); err == nil {
			t.Fatalf("cut after %d bytes and still opened", i)
		}
	}
	if _, err := Open(append(bytes.Clone(sealed), 0xf8, 0x07, 1)); !errors.Is(err, ErrSignature) {
		t.Errorf("a field added outside the signature: %v", err)
	}
}

// A signature of the same key for another purpose is not valid for an ad.
func TestSignatureOfSomethingElse(t *testing.T) {
	key := testKey(1)
	sealed, _ := Seal(key, exampleAd(key))
	encoded := sealed[ed25519.SignatureSize:]
	plain := append(ed25519.Sign(key, encoded), encoded...)
	if _, err := Open(plain); !errors.Is(err, ErrSignature) {
		t.Errorf("a plain signature: %v", err)
	}
	other, _ := key.Sign(nil, encoded, &ed25519.Options{Context: "skep ad 2"})
	if _, err := Open(append(other, encoded...)); !errors.Is(err, ErrSignature) {
		t.Errorf("another context: %v", err)
	}
	stolen := exampleAd(key)
	if _, err := Seal(testKey(2), stolen); !errors.Is(err, ErrSignature) {
		t.Errorf("sealed with another node's key: %v", err)
	}
}

// An ad of a later version is read, and forwarded with its unknown fields.
func TestAdOfLaterVersion(t *testing.T) {
	key := testKey(1)
	encoded, err := proto.Marshal(putAd(exampleAd(key)))
	if err != nil {
		t.Fatal(err)
	}
	encoded = protowire.AppendString(protowire.AppendTag(encoded, 99, protowire.BytesType), "gpu")
	sealed := sign(t, key, encoded)
	a, err := Open(sealed)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Sealed, sealed) {
		t.Error("the unknown field is lost")
	}
}

func sign(t *testing.T, key ed25519.PrivateKey, encoded []byte) []byte {
	sig, err := key.Sign(nil, encoded, adContext)
	if err != nil {
		t.Fatal(err)
	}
	return append(sig, encoded...)
}

// The bounds hold for an ad with a valid signature too.
func TestAdBounds(t *testing.T) {
	key := testKey(1)
	for name, c := range map[string]struct {
		spoil func(p *pb.Ad)
		want  error
	}{
		"node short":    {func(p *pb.Ad) { p.Node = p.Node[:31] }, ErrBound},
		"node missing":  {func(p *pb.Ad) { p.Node = nil }, ErrBound},
		"another node":  {func(p *pb.Ad) { n := nodeOf(testKey(2)); p.Node = n[:] }, ErrSignature},
		"name long":     {func(p *pb.Ad) { p.Name = strings.Repeat("x", grid.MaxName+1) }, ErrBound},
		"name control":  {func(p *pb.Ad) { p.Name = "a\nb" }, ErrBound},
		"cpu":           {func(p *pb.Ad) { p.Cpu = grid.MaxMillis + 1 }, ErrBound},
		"free too much": {func(p *pb.Ad) { p.FreeCpu = p.Cpu + 1 }, ErrBound},
		"backlog":       {func(p *pb.Ad) { p.Backlog = -1 }, ErrBound},
		"backlog long":  {func(p *pb.Ad) { p.Backlog = int64(MaxSpan) + 1 }, ErrBound},
		"price":         {func(p *pb.Ad) { p.Price = uint32(grid.MaxBid) + 1 }, ErrBound},
		"outbid":        {func(p *pb.Ad) { p.Outbid = uint32(grid.MaxBid) + 1 }, ErrBound},
		"speed":         {func(p *pb.Ad) { p.Speed = 0 }, ErrBound},
		"least speed":   {func(p *pb.Ad) { p.LeastSpeed = 0.04 }, ErrBound},
		"least above 1": {func(p *pb.Ad) { p.LeastSpeed = 1.1 }, ErrBound},
		"bids":          {func(p *pb.Ad) { p.Bids = -1 }, ErrBound},
		"bids NaN":      {func(p *pb.Ad) { p.Bids = math.NaN() }, ErrBound},
		"availability":  {func(p *pb.Ad) { p.Availability = 1.01 }, ErrBound},
		"labels":        {func(p *pb.Ad) { p.Labels = make([]*pb.Label, grid.MaxLabels+1) }, ErrBound},
		"label key":     {func(p *pb.Ad) { p.Labels[0].Key = "a=b" }, ErrBound},
		"label value":   {func(p *pb.Ad) { p.Labels[0].Value = strings.Repeat("x", grid.MaxLabel+1) }, ErrBound},
		"engines":       {func(p *pb.Ad) { p.Engines = make([]string, grid.MaxEngines+1) }, ErrBound},
		"rates":         {func(p *pb.Ad) { p.Rates.Class = make([]string, grid.MaxRates+1) }, ErrBound},
		"rates ragged":  {func(p *pb.Ad) { p.Rates.Mu = nil }, ErrMalformed},
		"rate negative": {func(p *pb.Ad) { p.Rates.Mu[0] = -1 }, ErrBound},
		"addresses":     {func(p *pb.Ad) { p.Addrs = make([]string, grid.MaxAddrs+1) }, ErrBound},
		"address long":  {func(p *pb.Ad) { p.Addrs[0] = strings.Repeat("x", grid.MaxAddr+1) }, ErrBound},
	} {
		p := putAd(exampleAd(key))
		c.spoil(p)
		encoded, err := proto.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(sign(t, key, encoded)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(make([]byte, grid.MaxAdSize+1)); !errors.Is(err, ErrSize) {
		t.Error(err)
	}
}

func TestSealBounds(t *testing.T) {
	key := testKey(1)
	a := exampleAd(key)
	for range grid.MaxLabels - len(a.Labels) {
		a.Labels = append(a.Labels, grid.Label{Key: strings.Repeat("k", grid.MaxLabel),
			Value: strings.Repeat("v", grid.MaxLabel)})
	}
	if _, err := Seal(key, a); !errors.Is(err, ErrSize) {
		t.Errorf("an ad of 8 KiB: %v", err)
	}
	a = exampleAd(key)
	a.Speed = -1
	if _, err := Seal(key, a); !errors.Is(err, ErrBound) {
		t.Errorf("a negative speed: %v", err)
	}
	if _, err := Seal(nil, exampleAd(key)); !errors.Is(err, ErrSignature) {
		t.Errorf("no key: %v", err)
	}
}
