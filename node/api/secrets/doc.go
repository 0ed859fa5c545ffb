// Package secrets answers requests of a node's user about the secrets that the node has set or holds. None returns a
// value, and none of them is for other members.
package secrets
