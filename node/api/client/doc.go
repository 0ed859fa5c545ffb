// Package client talks to the local door of a node: HTTP and JSON over the unix socket in its data
// folder, with the bearer token that lies beside it.
//
// One client keeps its connection, so a second request costs no new one. Nothing is asked for before
// the first request, and a job is submitted and followed to its end with a single one.
package client
