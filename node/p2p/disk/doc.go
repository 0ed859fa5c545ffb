// Package disk writes files and folders that survive a loss of power, and measures disk usage. A file's content is
// on disk when the file is synced, its name when the folder is [1]; what has a name is complete, since the name is
// given last, by a rename.
//
//	[1] fsync(2), under Description.
package disk
