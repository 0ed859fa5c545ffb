// Package zygote is the process from which the boxes of a node are forked, and what runs in them before the task does.
//
// The idea: a small process made early, to be copied often. The node executes its own binary once more, in a user
// namespace, a PID namespace and a mount namespace; that copy makes the file tree that all tasks see, drops what it
// does not need, and forks the forker, which waits for requests. For each box the forker forks itself into new
// namespaces: the copy is the stub, process 1 of the box, which mounts what is the task's own and forks the task. So
// neither the node, which knows secrets, nor its 40 MB of program start-up are part of a box.
//
// A fork of a Go program has one thread and no runtime. Everything that runs after it, in forker_linux.go,
// stub_linux.go and the files that afterfork_linux_test.go names, is therefore written without allocation, without a
// growing stack and without goroutines, in functions that the linker checks; it uses nothing but its own stack, global
// variables and system calls. The heap of the zygote is not copied at all. This is what makes a box cost little more
// than a process does.
//
// Who is where:
//
//	node      its own namespaces; talks to the forker and to each stub over a socket
//	zygote    process 1 of the namespace that all boxes are in; waits for the forker, and all ends with it
//	forker    outside of every box; has the capabilities of its own user namespace, sees the tree without /task of
//	          anybody
//	stub      process 1 of one box; cannot be traced; the only process there with capabilities
//	command   the task, or what else is run in its box; no capabilities, Landlock, the filter of system calls
//
// Where a node isolates nothing the zygote has no namespaces and the forker forks the commands.
//
// Sources:
//
//	[1] namespaces(7), user_namespaces(7), pid_namespaces(7), mount_namespaces(7), clone(2)
//	[2] madvise(2): MADV_DONTFORK
//	[3] seccomp(2), landlock(7)
//	[4] runsc/sandbox of gVisor and bubblewrap.c: the order in which a box is made
package zygote
