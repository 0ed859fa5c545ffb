// Package blob keeps content-addressed files: programs, inputs and outputs, each named by the SHA-256 of
// its content and held once.
//
// The idea is that a name is a promise about the content. What comes in streams through the hash into a temporary file
// and gets its name by a rename, so that a blob is there whole or not at all. What goes out is hashed again on its way,
// or, for the copies that tasks get, was hashed when its file was last written to. What is not what its name says goes
// to nobody. What a task gets is a copy of its own, never the file itself, so that no task can change what another one
// gets.
//
// The folder is bounded. Blobs that somebody needs are pinned, the rest is a cache that loses what was not
// used for longest.
package blob
