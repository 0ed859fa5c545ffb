// Package api is the local door of a node: HTTP and JSON on a unix socket in the data folder, on a TCP address where
// the operator wants one, in TLS if other machines reach it, and, for a few questions about jobs, to the other members.
//
// The door keeps nothing. It reads consistent views of the node between two steps, hands over what is to
// be submitted or cancelled, and passes streams through. A job may be asked for at any node: its ID names
// the node that it was submitted to, and the request is passed on there over the grid's own connections.
// What is said is described by an OpenAPI document at /openapi.json; errors have the form of [1].
//
// Sources:
//
//	[1] RFC 9457, Problem Details for HTTP APIs.
//	[2] RFC 6750, OAuth 2.0 Bearer Token Usage: the form of the Authorization header only.
package api
