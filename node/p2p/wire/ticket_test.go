package wire

import (
	"crypto/ed25519"
	"errors"
	"reflect"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/certificate"
)

func exampleTicket() Ticket {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	t := Ticket{Token: Token{Secret: [32]byte{1, 2}, Addrs: exampleToken().Addrs}, InviteSecret: [16]byte{3}}
	t.Invite = certificate.Invite{Root: certificate.Key{4}, Issuer: grid.NodeID(key.Public().(ed25519.PublicKey)),
		Serial: 5, Name: "laptop", Roles: certificate.Submit, Uses: 1, Until: 6, Hash: certificate.HashSecret(t.InviteSecret)}
	t.Invite.Sign(key)
	return t
}

func TestTicketRoundTrip(t *testing.T) {
	want := exampleTicket()
	text := want.String()
	token, got, err := ParseJoin(strings.ToUpper(text[:40]) + "\n " + text[40:])
	if err != nil || !reflect.DeepEqual(*got, want) || !reflect.DeepEqual(token, want.Token) {
		t.Fatalf("%+v, %v: want %+v", got, err, want)
	}
	if Hide(text) != "skep2-…" {
		t.Errorf("hidden: %q", Hide(text))
	}
	if _, err := ParseToken(text); !errors.Is(err, ErrVersion) {
		t.Errorf("as a token: %v: want %v", err, ErrVersion)
	}
	if _, ticket, err := ParseJoin(exampleToken().String()); ticket != nil || err != nil {
		t.Errorf("a token: %v, %v", ticket, err)
	}
}

func TestTicketErrors(t *testing.T) {
	whole := exampleTicket().String()
	for _, test := range []struct {
		name, text string
		want       error
	}{
		{"cut", whole[:60], ErrCut},
		{"mistyped", whole[:60] + "x" + whole[61:], ErrMistyped},
		{"no address", func() string { x := exampleTicket(); x.Addrs = nil; return x.String() }(), ErrBound},
		{"more roles than signed", func() string {
			x := exampleTicket()
			x.Invite.Roles |= certificate.Admin
			return x.String()
		}(), certificate.ErrForged},
		{"another secret", func() string {
			x := exampleTicket()
			x.InviteSecret[0]++
			return x.String()
		}(), certificate.ErrSecret},
	} {
		if _, _, err := ParseJoin(test.text); !errors.Is(err, test.want) {
			t.Errorf("%s: %v: want %v", test.name, err, test.want)
		}
	}
}

func FuzzParseJoin(f *testing.F) {
	f.Add(exampleTicket().String())
	f.Add(exampleToken().String())
	f.Fuzz(func(t *testing.T, s string) {
		if _, ticket, err := ParseJoin(s); err == nil && ticket != nil {
			if _, again, err := ParseJoin(ticket.String()); err != nil || !reflect.DeepEqual(again, ticket) {
				t.Errorf("%+v is read again as %+v, %v", ticket, again, err)
			}
		}
	})
}
