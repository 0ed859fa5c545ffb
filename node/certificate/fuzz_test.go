package certificate

import (
	"bytes"
	"testing"
)

// Each value has one encoding: what is decoded is encoded to the same bytes, and whatever else is refused.
func FuzzDecode(f *testing.F) {
	n := newNetwork()
	v := &Invite{Root: n.root, Issuer: n.issuer, Name: "laptop", Roles: Submit, Uses: 2, Until: noon}
	v.Sign(n.issuerKey)
	f.Add(n.chain().Append(nil))
	f.Add(v.Append(nil))
	f.Add(n.list(1, n.member, noon, false).Append(nil))
	f.Add(n.list(1, n.member, noon, true).Append(nil))
	f.Add(n.by.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		if c, err := DecodeChain(b); err == nil {
			again = c.Append(nil)
			c.Check(n.root, n.member, noon)
			if len(b) > MaxChain {
				t.Errorf("a chain of %d bytes: want at most %d", len(b), MaxChain)
			}
		} else if v, err := DecodeInvite(b); err == nil {
			again = v.Append(nil)
		} else if l, err := DecodeList(b); err == nil {
			again = l.Append(nil)
			new(Lists).Add(n.root, l)
		} else if i, err := DecodeIssuer(b); err == nil {
			again = i.Append(nil)
		} else {
			return
		}
		if !bytes.Equal(again, b) {
			t.Errorf("%x is encoded again as %x", b, again)
		}
	})
}

// What is longer or shorter than an encoding is none.
func TestDecodeWholeEncodingsOnly(t *testing.T) {
	n := newNetwork()
	v := &Invite{Root: n.root, Issuer: n.issuer, Name: "laptop", Roles: Submit, Uses: 2, Until: noon}
	for name, test := range map[string]struct {
		b      []byte
		decode func([]byte) error
	}{
		"chain":  {n.chain().Append(nil), func(b []byte) error { _, err := DecodeChain(b); return err }},
		"invite": {v.Append(nil), func(b []byte) error { _, err := DecodeInvite(b); return err }},
		"list": {n.list(1, n.member, noon, false).Append(nil),
			func(b []byte) error { _, err := DecodeList(b); return err }},
		"issuer": {n.by.Append(nil), func(b []byte) error { _, err := DecodeIssuer(b); return err }},
	} {
		if err := test.decode(test.b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, b := range [][]byte{test.b[:len(test.b)-1], append(bytes.Clone(test.b), 0), nil} {
			if err := test.decode(b); err == nil {
				t.Errorf("%s of %d bytes: want an error", name, len(b))
			}
		}
	}
}
