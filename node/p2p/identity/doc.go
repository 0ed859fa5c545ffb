// Package identity is who a node is: its Ed25519 key and its network's secret, as files of its data folder; its
// libp2p identity, which is made from the key without a table; and what is derived from the secret.
package identity
