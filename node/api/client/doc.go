// Package client is a client of a node's API: HTTP and JSON over the unix socket in its data folder, with the
// bearer token from the file beside it.
//
// A node on another machine is reached over TLS. Its certificate is identified by its hash, which is passed on with
// address and token as one text, a Remote.
//
// A client keeps its connection, so a second request needs no new one. Nothing is requested before the first call,
// and a job is submitted and followed to its end with a single request.
package client
