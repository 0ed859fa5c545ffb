// Package pb is the generated code of skep.proto, jobs.proto and secrets.proto: the bytes on the wire and on disk.
// Nothing but package wire uses it. To generate it anew, protoc and protoc-gen-go (a tool of the tools module) are
// needed.
package pb

//go:generate protoc --go_out=. --go_opt=paths=source_relative skep.proto jobs.proto secrets.proto
