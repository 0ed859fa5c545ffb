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
