package wire

import "errors"

// Token is what a machine needs to join.
type Token struct {
	Secret  [32]byte
	Addrs   []string // multiaddresses that end in /p2p/ID
	Network string   // for people; may be empty
}

// Check reports what is wrong with t.
func (t Token) Check() error { return errors.ErrUnsupported }

// String returns the text to hand on. It holds the secret.
func (t Token) String() string { return "" }

// ParseToken reads what String prints.
func ParseToken(s string) (Token, error) { return Token{}, errors.ErrUnsupported }
