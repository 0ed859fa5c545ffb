// Package client talks to the local door of a node: HTTP and JSON over the unix socket in its data
// folder, with the bearer token that lies beside it.
//
// A node on another machine is asked over TLS. Its certificate is known by its hash, which travels with address and
// token as one text, a Remote.
//
// One client keeps its connection, so a second request costs no new one. Nothing is asked for before
// the first request, and a job is submitted and followed to its end with a single one.
package client
