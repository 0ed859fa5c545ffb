// Package wire encodes messages between nodes, a node's records on disk, and the text of join tokens.
//
// Everything is protobuf, described in internal/pb/skep.proto. Input is checked in order of cost: the size is
// compared with the bound of its kind of message; then one pass over the bytes, without allocation, compares every
// count and length with the bounds of package grid; only then is memory spent on decoding, and the values are
// checked. The same tables of bounds (shapes.go) give the limits and the checks, so they cannot differ.
//
// An ad is signed by its node with Ed25519 in the variant with a context [1]. The signature covers the bytes as
// received; an ad is forwarded as the same bytes, so fields that this version does not know survive.
//
// Sources:
//
//	[1] RFC 8032, Edwards-Curve Digital Signature Algorithm, section 5.1 (Ed25519ctx).
package wire

import "errors"

// Errors of bytes from a peer, a person or a disk. Every error of this package wraps one of them.
var (
	ErrMalformed = errors.New("malformed")           // not the encoding of anything
	ErrKind      = errors.New("unknown kind")        // of a message that this version does not know
	ErrSize      = errors.New("too large")           // more bytes than its kind may have
	ErrBound     = errors.New("out of bounds")       // a count, number or text that is not allowed
	ErrSignature = errors.New("bad signature")       // an ad that its node did not sign, or a job that its origin did not
	ErrVersion   = errors.New("unknown version")     // written by a newer Skep
	ErrToken     = errors.New("not a join token")    // not a token at all
	ErrCut       = errors.New("join token is cut")   // part of a token is missing
	ErrMistyped  = errors.New("join token mistyped") // a token that was copied with errors
)

// Reason returns a metric label for err: one of malformed, kind, size, bound, signature, version, token, other.
func Reason(err error) string {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.word
		}
	}
	return "other"
}

var reasons = [...]struct {
	err  error
	word string
}{
	{ErrMalformed, "malformed"}, {ErrKind, "kind"}, {ErrSize, "size"}, {ErrBound, "bound"}, {ErrSignature, "signature"},
	{ErrVersion, "version"}, {ErrToken, "token"}, {ErrCut, "token"}, {ErrMistyped, "token"},
}

// Status is the first byte of an answer on a stream with one request: of blobs, outputs and reachability.
const (
	StatusOK    byte = iota
	StatusNone       // there is nothing to answer with
	StatusBusy       // the peer has no seat for the stream
	StatusTaken      // another stream has done, or does, what was asked for
)
