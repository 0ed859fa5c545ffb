package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

func TestToken(t *testing.T) {
	want := exampleToken()
	text := want.String()
	spaced := text[:40] + "\n  " + strings.ToUpper(text[40:]) + "\r\n"
	for _, s := range []string{text, spaced} {
		got, err := ParseToken(s)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	t.Logf("%d characters: %s", len(text), text)
	bare := Token{Secret: want.Secret}
	if got, err := ParseToken(bare.String()); err != nil || got.Secret != bare.Secret || len(got.Addrs) != 0 {
		t.Errorf("without addresses: %v", err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("joining", "token", want)
	if strings.Contains(log.String(), text[10:]) {
		t.Error("the secret is in the log: " + log.String())
	}
}

// payload makes a token's text of any payload.
func payload(b []byte) string {
	b = append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)
	return tokenPrefix + tokenText.EncodeToString(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

func payloadOf(t *testing.T, p *pb.Token) string {
	b, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return payload(b)
}

func TestTokenErrors(t *testing.T) {
	text := exampleToken().String()
	secret := make([]byte, 32)
	secret[3] = 1
	swapped := []byte(text)
	swapped[20], swapped[21] = 'a'+swapped[21]%7, 'h'+swapped[20]%7
	for name, c := range map[string]struct {
		text string
		want error
		says string
	}{
		"empty":          {"", ErrToken, "is empty"},
		"blank":          {" \n", ErrToken, "is empty"},
		"something else": {"/ip4/192.0.2.7/tcp/4001", ErrToken, `begins with "/ip4/192"`},
		"no version":     {"skep-abc", ErrToken, "begins with"},
		"later version":  {"skep2-abcdefgh", ErrVersion, "unknown version 2: this Skep reads version 1"},
		"prefix":         {"skep1", ErrCut, "only"},
		"prefix only":    {"skep1-", ErrCut, "6 characters are left"},
		"cut":            {text[:len(text)-1], ErrCut, fmt.Sprintf("has %d of %d characters", len(text)-1, len(text))},
		"cut early":      {text[:12], ErrCut, fmt.Sprintf("has 12 of %d characters", len(text))},
		"longer":         {text + "a", ErrMistyped, "1 too many"},
		"a 1":            {text[:30] + "1" + text[31:], ErrMistyped, `character 31 is '1'`},
		"an umlaut":      {text[:30] + "ü" + text[31:], ErrMistyped, `character 31 is 'ü'`},
		"swapped":        {string(swapped), ErrMistyped, "checksum"},
		"length":         {"skep1-77777777", ErrMistyped, "length at its beginning"},
		"too long":       {"skep1-" + strings.Repeat("a", MaxToken), ErrSize, fmt.Sprint(MaxToken)},
		"secret short":   {payloadOf(t, &pb.Token{Secret: secret[:31]}), ErrBound, "secret of 31 bytes"},
		"no secret":      {payloadOf(t, &pb.Token{Secret: make([]byte, 32)}), ErrBound, "no secret"},
		"bad address":    {payloadOf(t, &pb.Token{Secret: secret, Addrs: [][]byte{{1, 2, 3}}}), ErrBound, "address"},
		"empty address":  {payloadOf(t, &pb.Token{Secret: secret, Addrs: [][]byte{{}}}), ErrBound, "address"},
		"no peer": {payloadOf(t, &pb.Token{Secret: secret, Addrs: [][]byte{{4, 192, 0, 2, 7, 6, 15, 161}}}), ErrBound,
			"/ip4/192.0.2.7/tcp/4001"},
		"nine addresses": {payloadOf(t, &pb.Token{Secret: secret, Addrs: make([][]byte, grid.MaxAddrs+1)}), ErrBound,
			"more than 8"},
		"network name": {payloadOf(t, &pb.Token{Secret: secret, Network: "a\x1b"}), ErrBound, "network"},
		"payload":      {payload([]byte{0xff}), ErrMalformed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseToken(c.text)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error: %v\nwant: %v … %s", err, c.want, c.says)
			}
			if err != nil && len(c.text) > 60 && strings.Contains(err.Error(), c.text[10:50]) {
				t.Errorf("the error repeats the token: %v", err)
			}
		})
	}
}

// Every single typing error is detected.
func TestTokenMistyped(t *testing.T) {
	text := exampleToken().String()
	for i := len(tokenPrefix); i < len(text); i++ {
		for _, c := range []byte("az27") {
			if text[i] == c {
				continue
			}
			if _, err := ParseToken(text[:i] + string(c) + text[i+1:]); !errors.Is(err, ErrMistyped) && !errors.Is(err, ErrCut) {
				t.Fatalf("character %d: %v", i+1, err)
			}
		}
	}
}

func TestTokenCheck(t *testing.T) {
	bad := Token{Network: strings.Repeat("n", 200), Addrs: []string{"nonsense", "/ip4/192.0.2.7/tcp/4001",
		"/p2p/12D3KooWGRUHuzJZTYRvGFmW2hU8AoLWNUMMxqgkbsU2uXqbW1yU",
		"/ip4/1.2.3.4/" + strings.Repeat("x", grid.MaxAddr)}}
	err := bad.Check()
	for _, want := range []string{"secret", "nonsense", "/ip4/192.0.2.7/tcp/4001", "want one that ends in /p2p/",
		"network", "at most 256"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if s := bad.String(); len(s) > MaxToken {
		t.Errorf("%d characters", len(s))
	}
	if err := exampleToken().Check(); err != nil {
		t.Error(err)
	}
}

func TestHello(t *testing.T) {
	want := Hello{Version: Version, Kinds: grid.AllKinds | 1<<63, Software: "skep/0.1 go1.26", Boot: 12,
		Instance: 1<<63 | 5, Other: 6, Known: strings.Repeat("k", MaxKnown), KnownAge: time.Hour}
	b := want.Append([]byte("x"))[1:]
	var got Hello
	if err := got.Decode(b); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	long := Hello{Version: 1, Software: "a\n" + strings.Repeat("ü", 200)}
	if err := got.Decode(long.Append(nil)); err != nil || len(got.Software) != grid.MaxName ||
		!strings.HasPrefix(got.Software, "a ü") {
		t.Errorf("%q, %v", got.Software, err)
	}
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"long": {make([]byte, MaxHello+1), ErrSize}, "nothing": {nil, ErrBound}, "cut": {b[:len(b)-1], ErrMalformed},
		"software": {marshalled(t, &pb.Hello{Version: 1, Software: strings.Repeat("x", grid.MaxName+1)}), ErrBound},
		"known":    {marshalled(t, &pb.Hello{Version: 1, Known: make([]byte, MaxKnown+1)}), ErrBound},
		"control":  {marshalled(t, &pb.Hello{Version: 1, Software: "\x1b"}), ErrBound},
	} {
		if err := got.Decode(c.b); !errors.Is(err, c.want) || got != (Hello{}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func marshalled(t *testing.T, m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHide(t *testing.T) {
	token := exampleToken().String()
	for text, want := range map[string]string{
		"nothing": "nothing", token: "skep1-…",
		`got "` + token + `": see skep up --help`: `got "skep1-…": see skep up --help`,
		strings.ToUpper(token):                    "SKEP1-…", token[:60] + " cut": "skep1-… cut",
		token + "," + token: "skep1-…,skep1-…", "skep-2 skep1-…": "skep-2 skep1-…",
	} {
		if got := Hide(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
