// Package pb is the generated code of skep.proto: the bytes on the wire and on disk.
package pb

//go:generate protoc --go_out=. --go_opt=paths=source_relative skep.proto
