package wire

import (
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"unicode"

	ma "github.com/multiformats/go-multiaddr"
	"google.golang.org/protobuf/proto"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// MaxToken bounds a token's text in bytes.
const MaxToken = 4096

// Token is what a machine needs to join a network: the network's secret and addresses of some members.
type Token struct {
	Secret  [32]byte
	Addrs   []string // multiaddresses that end in /p2p/ID, at most grid.MaxAddrs; none if mDNS finds members
	Network string   // for people, at most grid.MaxName bytes; may be empty
}

const tokenPrefix = "skep1-"

// tokenText has small letters and digits only: it can be read out, and a double click selects it whole.
var tokenText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

var tokenShape = &shape{"token", []field{
	1: data("secret", 1, 32), 2: data("addrs", grid.MaxAddrs, grid.MaxAddr), 3: data("network", 1, grid.MaxName),
}}

// Check returns an error for everything that is wrong with t.
func (t Token) Check() error {
	var errs []error
	if t.Secret == [32]byte{} {
		errs = append(errs, fmt.Errorf("join token: %w: has no secret", ErrBound))
	}
	if len(t.Addrs) > grid.MaxAddrs {
		errs = append(errs, fmt.Errorf("join token: %w: %d addresses, want at most %d", ErrBound, len(t.Addrs),
			grid.MaxAddrs))
	}
	for _, a := range t.Addrs {
		if _, err := dialable(a); err != nil {
			errs = append(errs, fmt.Errorf("join token: %w", err))
		}
	}
	if err := text("join token: network", t.Network, grid.MaxName); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// String returns the token's text: skep1-, then in base 32 the payload's length in two bytes, the payload and its
// CRC-32. It contains the secret. Invalid addresses are left out.
func (t Token) String() string {
	p := pb.Token{Secret: t.Secret[:], Network: grid.Clean(t.Network, grid.MaxName)}
	for _, s := range t.Addrs[:min(len(t.Addrs), grid.MaxAddrs)] {
		if a, err := dialable(s); err == nil {
			p.Addrs = append(p.Addrs, a.Bytes())
		}
	}
	b, err := marshal.MarshalAppend(make([]byte, 2, 256), &p)
	if err != nil {
		panic("wire: a token of clean text that cannot be encoded: " + err.Error())
	}
	binary.BigEndian.PutUint16(b, uint16(len(b)-2))
	return tokenPrefix + tokenText.EncodeToString(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// tokens finds tokens in a text, also truncated ones with enough left to reveal of the secret.
var tokens = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(skep[0-9]+-)[a-z2-7]{16,}`) })

// TokenIn returns the start and end of a token in a text, or of enough of one to reveal of its secret; 0, 0 if
// there is none.
func TokenIn(text string) (from, to int) {
	if at := tokens().FindStringIndex(text); at != nil {
		return at[0], at[1]
	}
	return 0, 0
}

// Hide removes the secrets of tokens from a text that people will read or that is stored: an error, a line of a
// log.
func Hide(text string) string {
	if !strings.Contains(strings.ToLower(text), "skep") {
		return text
	}
	return tokens().ReplaceAllString(text, "$1…")
}

// LogValue keeps the secret out of logs.
func (t Token) LogValue() slog.Value { return slog.StringValue(tokenPrefix + "…") }

// ParseToken parses what String prints, ignoring white space and case. Errors wrap ErrToken, ErrVersion, ErrSize,
// ErrCut, ErrMistyped or ErrBound and do not contain the secret.
func ParseToken(s string) (Token, error) {
	if len(s) > MaxToken {
		return Token{}, fmt.Errorf("join token: %w: %d characters, want at most %d", ErrSize, len(s), MaxToken)
	}
	s = strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s))
	body, ok := strings.CutPrefix(s, tokenPrefix)
	if !ok {
		return Token{}, notToken(s)
	}
	b, err := tokenBytes(body)
	if err != nil {
		return Token{}, err
	}
	if err := tokenShape.check(b); err != nil {
		return Token{}, fmt.Errorf("join token: %w", err)
	}
	var p pb.Token
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, &p); err != nil {
		return Token{}, fmt.Errorf("join token: %w: %w", ErrMalformed, err)
	}
	return getToken(&p)
}

// notToken says what s is, by its beginning.
func notToken(s string) error {
	digits := strings.TrimPrefix(s, "skep")
	version, _, dash := strings.Cut(digits, "-")
	switch {
	case s == "":
		return fmt.Errorf("%w: is empty: want what `skep node token` prints, %s…", ErrToken, tokenPrefix)
	case strings.HasPrefix(tokenPrefix, s):
		return fmt.Errorf("%w: only %q is left of it", ErrCut, s)
	case digits != s && dash && version != "" && len(version) < 6 && strings.Trim(version, "0123456789") == "":
		return fmt.Errorf("join token: %w %s: this Skep reads version 1", ErrVersion, version)
	}
	return fmt.Errorf("%w: begins with %.8q: want %s…", ErrToken, s, tokenPrefix)
}

// tokenBytes returns the payload of a token's text after its prefix.
func tokenBytes(body string) ([]byte, error) {
	if i := strings.IndexFunc(body, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '2' && r <= '7') }); i >= 0 {
		r := []rune(body[i:])[0]
		return nil, fmt.Errorf("%w: character %d is %q: want a-z and 2-7", ErrMistyped, len(tokenPrefix)+i+1, r)
	}
	if len(body) < 4 {
		return nil, fmt.Errorf("%w: %d characters are left of it", ErrCut, len(tokenPrefix)+len(body))
	}
	head, err := tokenText.DecodeString(body[:4])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMistyped, err)
	}
	size := int(binary.BigEndian.Uint16(head))
	want := tokenText.EncodedLen(2 + size + 4)
	if want > MaxToken {
		return nil, fmt.Errorf("%w: the length at its beginning, %d, cannot be: want at most %d", ErrMistyped, want, MaxToken)
	}
	if len(body) < want {
		return nil, fmt.Errorf("%w: has %d of %d characters", ErrCut, len(tokenPrefix)+len(body), len(tokenPrefix)+want)
	}
	if len(body) > want {
		return nil, fmt.Errorf("%w: has %d characters, %d too many", ErrMistyped, len(tokenPrefix)+len(body), len(body)-want)
	}
	b, err := tokenText.DecodeString(body)
	if err != nil || tokenText.EncodeToString(b) != body {
		return nil, fmt.Errorf("%w: its last character cannot be", ErrMistyped)
	}
	sum := b[len(b)-4:]
	if b = b[:len(b)-4]; binary.BigEndian.Uint32(sum) != crc32.ChecksumIEEE(b) {
		return nil, fmt.Errorf("%w: the checksum differs: copy it again, whole", ErrMistyped)
	}
	return b[2:], nil
}

func getToken(p *pb.Token) (Token, error) {
	t := Token{Network: cleanText(p.Network)}
	if len(p.Secret) != len(t.Secret) {
		return Token{}, fmt.Errorf("join token: %w: a secret of %d bytes, want %d", ErrBound, len(p.Secret), len(t.Secret))
	}
	copy(t.Secret[:], p.Secret)
	for _, b := range p.Addrs {
		a, err := ma.NewMultiaddrBytes(b)
		if err != nil {
			return Token{}, fmt.Errorf("join token: %w: an address that is none: %w", ErrBound, err)
		}
		t.Addrs = append(t.Addrs, a.String())
	}
	if err := t.Check(); err != nil {
		return Token{}, err
	}
	return t, nil
}

// dialable parses an address at which a known node may be reached.
func dialable(s string) (ma.Multiaddr, error) {
	if len(s) > grid.MaxAddr {
		return nil, fmt.Errorf("address %.64q…: %w: %d bytes, want at most %d", s, ErrBound, len(s), grid.MaxAddr)
	}
	a, err := ma.NewMultiaddr(s)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w: %w", s, ErrBound, err)
	}
	if last := a[len(a)-1]; last.Protocol().Code != ma.P_P2P || len(a) < 2 {
		return nil, fmt.Errorf("address %q: %w: want one that ends in /p2p/ and the node's ID", s, ErrBound)
	}
	return a, nil
}
