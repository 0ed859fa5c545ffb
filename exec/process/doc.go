// Package process runs one task as an operating-system process: within its limits, away from the
// node's own files, and gone with everything that it started once it has ended.
//
// The idea: a task is whatever is in its box. Package sandbox makes the box and forks the task in it; this package
// finds the program, sets the limits, copies the output to files, keeps the time and the memory, and knows how the task
// ended. What is common to all tasks of a node lives in Runner: the sandbox, and one look at all tasks five times a
// second while there are any.
//
// Where there are no boxes a task is its process group, as far as that can be followed.
//
// Sources:
//
//	[1] proc_pid_statm(5), proc_pid_status(5), proc_pid_smaps(5), proc_pid_environ(5), proc_sysvipc(5), pidfd_open(2)
//	[2] POSIX sh 2.8.2: exit status 126, 127 and more than 128; timeout(1): 124
//	[3] chattr(1), attribute T; ioctl_iflags(2)
package process
