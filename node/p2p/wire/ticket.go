package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"strings"
	"unicode"

	ma "github.com/multiformats/go-multiaddr"

	"skep/grid"
	"skep/node/certificate"
)

// Ticket is what a machine needs to join a network with certificates: an invite with its secret, and what a Token has;
// the addresses are those of the issuer, which alone redeems the invite.
type Ticket struct {
	Token
	Invite       certificate.Invite
	InviteSecret [certificate.SecretSize]byte
}

const ticketPrefix = "skep2-"

// Check returns an error for everything that is wrong with t.
func (t Ticket) Check() error {
	err := t.Token.Check()
	if len(t.Addrs) == 0 {
		err = errors.Join(err, fmt.Errorf("invite: %w: has no address of its issuer", ErrBound))
	}
	return errors.Join(err, t.Invite.Check(t.InviteSecret))
}

// String returns the ticket's text: skep2-, and the rest as in a token. It contains the secrets.
func (t Ticket) String() string {
	b := append(make([]byte, 2, 512), t.Secret[:]...)
	b = append(b, t.InviteSecret[:]...)
	b = appendSized(b, t.Invite.Append(nil))
	for _, s := range t.Addrs[:min(len(t.Addrs), grid.MaxAddrs)] {
		if a, err := dialable(s); err == nil {
			b = appendSized(b, a.Bytes())
		}
	}
	binary.BigEndian.PutUint16(b, uint16(len(b)-2))
	return ticketPrefix + tokenText.EncodeToString(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// LogValue keeps the secrets out of logs.
func (t Ticket) LogValue() slog.Value { return slog.StringValue(ticketPrefix + "…") }

func appendSized(dst, part []byte) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(part))), part...)
}

// takeSized returns what appendSized appended at the front of b, and the rest.
func takeSized(b []byte) (part, rest []byte, err error) {
	if len(b) < 2 || len(b)-2 < int(binary.BigEndian.Uint16(b)) {
		return nil, nil, fmt.Errorf("invite: %w: is cut short", ErrMalformed)
	}
	n := 2 + int(binary.BigEndian.Uint16(b))
	return b[2:n], b[n:], nil
}

// ParseJoin parses what a machine joins with: a token, or an invite as its ticket prints it, of which it returns the
// token, too. Errors are those of ParseToken.
func ParseJoin(s string) (Token, *Ticket, error) {
	compact := strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s))
	body, ok := strings.CutPrefix(compact, ticketPrefix)
	if !ok || len(compact) > MaxToken {
		t, err := ParseToken(s)
		return t, nil, err
	}
	b, err := tokenBytes(body)
	if err != nil {
		return Token{}, nil, err
	}
	t, err := getTicket(b)
	if err != nil {
		return Token{}, nil, err
	}
	return t.Token, t, nil
}

func getTicket(b []byte) (*Ticket, error) {
	t := new(Ticket)
	if len(b) < len(t.Secret)+len(t.InviteSecret) {
		return nil, fmt.Errorf("invite: %w: is cut short", ErrMalformed)
	}
	b = b[copy(t.Secret[:], b):]
	b = b[copy(t.InviteSecret[:], b):]
	part, b, err := takeSized(b)
	if err != nil {
		return nil, err
	}
	v, err := certificate.DecodeInvite(part)
	if err != nil {
		return nil, fmt.Errorf("invite: %w: %w", ErrMalformed, err)
	}
	t.Invite = *v
	for len(b) > 0 {
		if part, b, err = takeSized(b); err != nil {
			return nil, err
		}
		a, err := ma.NewMultiaddrBytes(part)
		if err != nil {
			return nil, fmt.Errorf("invite: %w: an address that is none: %w", ErrBound, err)
		}
		t.Addrs = append(t.Addrs, a.String())
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	return t, nil
}
