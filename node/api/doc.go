// Package api is the API listener of a node: HTTP and JSON on a unix socket in the data folder, on a TCP address if
// the operator sets one, with TLS if other machines can reach it, and, for some requests about jobs, to the other
// members.
//
// The package keeps no state of its own about jobs. It reads consistent views of the node between two steps, passes
// submissions and cancellations to it, and forwards streams. Any node may be asked about a job: its ID names its
// origin, and the request is relayed to the job's owner over the grid's own connections. An OpenAPI document at
// /openapi.json describes requests and answers; errors have the form of [1].
//
// Sources:
//
//	[1] RFC 9457, Problem Details for HTTP APIs.
//	[2] RFC 6750, OAuth 2.0 Bearer Token Usage: the form of the Authorization header only.
package api
