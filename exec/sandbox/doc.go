// Package sandbox runs each task in a box of its own: namespaces, a tree of files that names what is in it, a filter of
// system calls, and bounds.
//
// The idea: what a task may reach is listed, everything else is not there. A box sees the programs and libraries of the
// machine read-only, a filtered copy of /etc, its own processes, its own temporary folders, and the folder of its
// attempt; no home, no socket, no terminal, no data folder of the node. Process 1 of the box is a stub that the node
// talks to, and that the task can neither signal nor trace; when it ends the kernel ends all that is in the box. What
// the stub is and how it comes into being is package zygote's.
//
// A level is what was seen to hold, not what the kernel's version promises: Open runs a probe in a box that tries a
// short list of attacks, and takes the level from what it could do. Package process runs tasks in these boxes, or
// without them where there are none.
//
// On systems other than Linux, and on other processors than amd64 and arm64, there are no boxes.
//
// Sources:
//
//	[1] namespaces(7), user_namespaces(7), mount_namespaces(7), mount_setattr(2)
//	[2] landlock(7), seccomp(2), and Documentation/admin-guide/cgroup-v2.rst of the kernel
//	[3] proc_pid_oom_score_adj(5), getrlimit(2)
package sandbox
