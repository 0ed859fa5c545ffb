// Package suspend stops all processes of a task in place, and later continues exactly those that it stopped.
//
// A task may have children that left its session, and processes that it has stopped itself: the first have to stop
// with it, the second must not go on with it. So each process is stopped by itself, in passes over what lives, until
// two passes agree, and only what was stopped here is continued. A signal to all at once would forget which are which,
// and the freezer of control groups [1] would stop the stub of the box too, which has to answer and to end it.
//
// A process that stops or ends itself between a look at it and the signal counts as stopped here: that gap is some
// microseconds wide.
//
//	[1] cgroups(7), cgroup.freeze.
package suspend
