package wire

import (
	"bytes"
	"testing"

	"skep/grid"
)

// What is decoded without an error can be encoded again, and is decoded to the same.
func FuzzDecode(f *testing.F) {
	for k := grid.Kind(1); int(k) < grid.Kinds; k++ {
		f.Add(example(f, k))
	}
	f.Add([]byte{0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Codec
		var m, again grid.Message
		open := func(sealed []byte) (*grid.Ad, error) { // a wrong signature would end every attempt
			if len(sealed) == 0 {
				return nil, nil
			}
			return &grid.Ad{Sealed: bytes.Clone(sealed)}, nil
		}
		if err := c.Decode(b, &m, open); err != nil {
			if Reason(err) == "other" || m.Kind != 0 {
				t.Fatalf("kind %v, %v", m.Kind, err)
			}
			return
		}
		said, err := c.Append(nil, &m, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Decode(said, &again, open); err != nil {
			t.Fatal(err)
		}
		twice, err := c.Append(nil, &again, nil)
		if err != nil || !bytes.Equal(said, twice) {
			t.Fatalf("%x\n%x\n%v", said, twice, err)
		}
	})
}

// A spec that is decoded without an error is encoded unchanged.
func FuzzSpec(f *testing.F) {
	f.Add([]byte(exampleSealed(f).Sealed))
	f.Add(encoded(f, putSpec(exampleSpec())))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, resealed(b)} {
			s, err := OpenSpec(exampleJob(), b)
			if err != nil {
				if Reason(err) == "other" {
					t.Fatal(err)
				}
				continue
			}
			if s.Sealed != "" && s.Sealed != string(b) || s.Sealed == "" && s.Submitter != (grid.Submitter{}) {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// resealed puts a good signature of the example's origin in the place of one at the end of b.
func resealed(b []byte) []byte {
	if len(b) < sealSize {
		return b
	}
	b = b[:len(b)-sealSize]
	sig, err := testKey(1).Sign(nil, append(putJob(exampleJob()), b...), jobContext)
	if err != nil {
		panic(err)
	}
	return append(append(bytes.Clone(b), sealHead...), sig...)
}

func FuzzOpen(f *testing.F) {
	sealed, err := Seal(testKey(1), exampleAd(testKey(1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add(sealed[64:])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range [][]byte{b, resigned(b)} {
			a, err := Open(s)
			if err != nil {
				if Reason(err) == "other" {
					t.Fatal(err)
				}
				continue
			}
			if !bytes.Equal(a.Sealed, s) || a.Check() != nil {
				t.Fatalf("%+v", a)
			}
		}
	})
}

// resigned puts a good signature of the first test node before what b holds after a signature.
func resigned(b []byte) []byte {
	if len(b) < 64 {
		return b
	}
	sig, err := testKey(1).Sign(nil, b[64:], adContext)
	if err != nil {
		panic(err)
	}
	return append(sig, b[64:]...)
}

func FuzzRecord(f *testing.F) {
	for _, r := range exampleRecords() {
		key, value, err := AppendRecord(nil, &r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(key, value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		r, err := DecodeRecord(key, value)
		if err != nil {
			if Reason(err) == "other" {
				t.Fatal(err)
			}
			return
		}
		k, v, err := AppendRecord(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(k, key) && (r.Kind != grid.RecClass || grid.Printable(string(key[1:]))) {
			t.Fatalf("key %x, was %x", k, key)
		}
		if _, err := DecodeRecord(k, v); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzToken(f *testing.F) {
	f.Add(exampleToken().String())
	f.Add("skep1-")
	f.Add("skep2-aaaa")
	f.Fuzz(func(t *testing.T, s string) {
		for _, s := range []string{s, payload([]byte(s)[:min(len(s), 1<<16-1)])} {
			tok, err := ParseToken(s)
			if err != nil {
				if Reason(err) == "other" {
					t.Fatal(err)
				}
				continue
			}
			again, err := ParseToken(tok.String())
			if err != nil || again.String() != tok.String() {
				t.Fatalf("%v", err)
			}
		}
	})
}

func FuzzHello(f *testing.F) {
	f.Add((&Hello{Version: 1, Kinds: 6, Software: "skep", Boot: 7}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again Hello
		if err := h.Decode(b); err != nil {
			if Reason(err) == "other" {
				t.Fatal(err)
			}
			return
		}
		if err := again.Decode(h.Append(nil)); err != nil || again != h {
			t.Fatalf("%+v, %+v, %v", h, again, err)
		}
	})
}
