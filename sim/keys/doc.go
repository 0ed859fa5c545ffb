// Package keys stands in for Ed25519 in worlds whose nodes have no keys: their identities are made from their indices.
//
// A signature is the hash of a secret, the signer and the statement, and who checks one computes it again. Nobody else
// can make one as long as code that stands for a node has that node's [Key] alone, and asks it for nothing but what
// [chain.Signer] offers. It costs a hundredth of the real ones, which package chain has tests of.
package keys
