// Package wal is a write-ahead log: a file of fixed size to which records are appended, each durable by one sync.
//
// Whoever uses it keeps the records in memory too, puts them into a database of its own now and then, and states there,
// in the same transaction, the next generation. That is all that truncates the log: records of an earlier generation
// are not read any more, and those of the new one overwrite them from the beginning of the file. So there is no moment
// at which a record is in neither, or counts twice.
//
// The file is a sequence of sectors of 512 bytes, each with its own sum, and each at one place of one record of one
// generation. A disk writes a sector as a whole or not at all. So a reader tells three things apart: a record that is
// whole; one whose writing the loss of power cut short, which nobody was told to be durable; and a record that was
// durable and has changed since.
package wal
