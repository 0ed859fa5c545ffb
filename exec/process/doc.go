// Package process runs one task as an operating-system process: within its limits, away from the
// node's own files, and gone with everything that it started once it has ended.
//
// The idea: one throw-away thread for each task. On Linux much of what a task must inherit (Landlock
// rules, no_new_privs, umask, niceness, capabilities) belongs to a thread, and a fork inherits it
// from the thread that forks. So a goroutine is locked to a fresh thread, restricts that thread
// alone, forks the task from it, sets the limits of the child while it is stopped at its exec, and
// then stays: it copies the task's output to files, keeps the time limit, reaps the task, and ends
// without unlocking, which ends the thread. Nothing of the node is restricted, the node's binary is
// never executed again, and the thread lives as long as its task, which is what the parent-death
// signal needs [2]. What is common to all tasks of a node lives in Runner: the rules of confinement
// and one look at the process table five times a second while tasks run, for their memory.
//
// On other unixes a plain fork with a process group does what is portable; Confined says what is
// missing there.
//
// Sources:
//
//	[1] landlock(7), and Documentation/userspace-api/landlock.rst of the kernel
//	[2] PR_SET_PDEATHSIG(2const): the "parent" is the thread that created the child
//	[3] ptrace(2): a traced child stops with SIGTRAP at the end of its execve; prlimit(2)
//	[4] proc_pid_statm(5), proc_pid_smaps(5), proc_pid_environ(5), pidfd_open(2)
//	[5] POSIX sh 2.8.2: exit status 126, 127 and more than 128; timeout(1): 124
//	[6] runtime.LockOSThread: a goroutine that exits while locked takes its thread along
package process
