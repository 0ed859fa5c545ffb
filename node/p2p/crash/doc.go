// Package crash is for tests. It writes down what a program does to the files of a folder, call by call, and makes the
// folders that a loss of power at any of these calls could have left.
//
// The program is the test binary, started again; a seccomp filter [1] holds each of its writes, syncs, renames and so
// on until the recorder has noted it, so nothing of the program or of its libraries has to be written for this, and none of it
// can be overlooked. What was brought to disk by a sync stays. Of what was not, everything may be lost, or any part: a
// write sector by sector, names one by one, content without its name and a name without its content [2].
//
//	[1] seccomp_unotify(2).
//	[2] T. S. Pillai et al.: All File Systems Are Not Created Equal. OSDI 2014.
package crash
