// Package crash is for tests. It records what a program does to the files of a folder, call by call, and recreates
// the folders that a loss of power at any of these calls could have left.
//
// The program is the test binary, started again; a seccomp filter [1] holds each of its writes, syncs, renames and
// so on until the recorder has recorded it, so neither the program nor its libraries need changes, and no call is
// missed. Synced data survives. Of the rest, everything may be lost, or any part: a write sector by sector, names
// one by one, content without its name and a name without its content [2].
//
//	[1] seccomp_unotify(2).
//	[2] T. S. Pillai et al.: All File Systems Are Not Created Equal. OSDI 2014.
package crash
