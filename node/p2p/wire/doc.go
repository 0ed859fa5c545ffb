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
