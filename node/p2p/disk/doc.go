// Package disk makes files and folders that outlast a loss of power. A file's content is on disk when the file is synced,
// its name when the folder is [1]; what has a name is whole, since the name is given last, by a rename.
//
//	[1] fsync(2), under Description.
package disk
