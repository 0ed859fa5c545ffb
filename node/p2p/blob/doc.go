// Package blob stores content-addressed files: programs, inputs and outputs, each named by the SHA-256 of its
// content and stored once.
//
// A name is a promise about the content. What is written streams through the hash into a temporary file and gets
// its name by a rename, so a blob is stored as a whole or not at all. What is read is hashed again on its way, or,
// for the copies that tasks get, was hashed after its file was last written to. A file whose content does not match
// its name is given to nobody. A task gets a copy of its own, never the file itself, so no task can change what
// another one gets.
//
// The folder is bounded. Blobs in use are pinned; the rest is a cache with LRU eviction.
package blob
