// Package certificate says who is a member of a network, and what it may do there: certificates, invites and
// revocations, as values that are signed and checked. It has no clock, draws nothing at random, and reads no file.
//
// The idea: a network has a root key, which need not be on any node. It signs issuers: nodes that may let others in.
// An issuer signs invites, each of which that node alone redeems, and the certificates of members, with name and
// roles, which last a day and are renewed. Whoever shows a certificate shows the issuer's with it, a Chain: it is
// checked against the root's public key alone, for the node whose key the connection has proved. Who is put out
// before a certificate ends is on a revocation list: each signer has one, numbered, of which the highest number counts.
//
// All encodings are canonical: fields of fixed size in a fixed order, so that one value has one encoding, which is what
// is signed. Signatures are Ed25519 with a context [1] that names what is signed, as nodes sign other things with the
// same key.
//
//	[1] RFC 8032, Edwards-Curve Digital Signature Algorithm, section 5.1: Ed25519ctx.
package certificate
