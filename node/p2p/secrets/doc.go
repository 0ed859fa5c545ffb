// Package secrets keeps secrets on a node's disk, encrypted, and carries them between nodes: from the owner to those
// that hold them, and from these to workers. Who gets what is decided by package skep/node/secret, whose DESIGN.md says
// what that protects from whom.
package secrets
