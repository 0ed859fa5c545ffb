// Package wire is the bytes of Skep: what nodes say to each other, what a node keeps on disk, and the text
// of a join token.
//
// Everything is protobuf, described in internal/pb/skep.proto. The idea of this package is that nothing
// from outside is believed before it is cheap to believe it: the size is compared with what the kind of
// message may have; then one pass over the bytes, without allocation, compares every count and length with
// the bounds of package grid; only then is memory spent on decoding, and the values are checked. The same
// tables of bounds (shapes.go) give the limits and the checks, so they cannot differ.
//
// An ad is signed by its node with Ed25519 in the variant with a context [1]. The signature covers the
// bytes as they came; who passes an ad on repeats them, so fields that this version does not know survive.
//
// Sources:
//
//	[1] RFC 8032, Edwards-Curve Digital Signature Algorithm, section 5.1 (Ed25519ctx).
package wire
