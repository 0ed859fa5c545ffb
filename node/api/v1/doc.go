// Package v1 defines version 1 of a node's API: its JSON and the frames of a stream.
//
// The names of the fields are a contract: they stay, new ones are added. Lengths of time are seconds with a
// fraction, sizes are bytes, processors are cores with a fraction, moments are RFC 3339 in UTC.
package v1
