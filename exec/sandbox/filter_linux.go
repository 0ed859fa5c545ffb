//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"slices"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"skep/exec/sandbox/zygote"
)

// forbidden are system calls that no task needs and that reach into other processes, into the kernel, or out of a box.
var forbidden = []string{
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_getfd", "kcmp",
	"add_key", "request_key", "keyctl", "bpf", "userfaultfd", "perf_event_open", "memfd_secret",
	"umount2", "pivot_root", "chroot", "open_tree_attr", "fsopen", "fsconfig", "fsmount",
	"fspick",
	"mount_setattr", "swapon", "swapoff", "quotactl", "quotactl_fd", "acct", "nfsservctl", "open_by_handle_at",
	"fanotify_init", "lookup_dcookie", "uselib", "init_module", "finit_module", "delete_module", "kexec_load",
	"kexec_file_load",
	"reboot", "syslog", "iopl", "ioperm", "settimeofday", "clock_settime", "vhangup", "lsm_set_self_attr",
	"adjtimex", "clock_adjtime", "modify_ldt", "name_to_handle_at",
}

// absent are system calls that programs do without when the kernel does not have them.
var absent = []string{"io_uring_setup", "io_uring_enter", "io_uring_register", "clone3", "listmount", "statmount"}

// frequent are calls that nothing is said about and that programs make most. They are let through first: older kernels
// go through the filter at each call.
var frequent = []string{"read", "write", "close", "fstat", "newfstatat", "lseek", "mmap", "munmap", "futex", "recvfrom",
	"sendto"}

// families are those of the sockets that a task may make: others are rarely used code of the kernel, and those to the
// hypervisor have no namespace.
var families = []uint64{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// personalities are those that a task may have: none, that of 32 bits, one without random addresses, as debuggers want;
// and the two ways to ask for the one of now.
var personalities = []uint64{0, 0x8, 0x40000, 0x40008, 0xffffffff, 0xffffffffffffffff}

// newNamespaces are the flags of clone and unshare that make namespaces.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// filter is the filter of system calls [2] that the zygote puts itself under, and that all boxes inherit: to install
// one takes a third of the time that a short task does. The zygote and the stubs do make namespaces and mounts, and
// show by a cookie that it is they: a number in the sixth argument, which these calls do not look at. A task does not
// know it.
//
// Where tasks can leave files outside of their boxes, shared, no file may be made set-user-ID or set-group-ID: a mount
// without set-user-ID programs holds in the box only, and outside the program would give its caller the rights of the
// node's user.
func filter(cookie uint64, shared bool) ([]zygote.Instruction, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("filter of system calls: %w", err)
	}
	known := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { _, ok := info.SyscallNames[n]; return !ok })
	}
	stranger := seccomp.Condition{Argument: 5, Operation: seccomp.NotEqual, Value: cookie}
	makes := seccomp.Condition{Argument: 0, Operation: seccomp.BitsSet, Value: newNamespaces}
	refuse, lack := seccomp.ActionErrno|seccomp.Action(unix.EPERM), seccomp.ActionErrno|seccomp.Action(unix.ENOSYS)
	lacking := absent
	var modes []seccomp.NameWithConditions
	if shared {
		lacking = append(slices.Clone(absent), "openat2") // whose mode a filter does not see
		modes = slices.DeleteFunc(setsMode(),
			func(c seccomp.NameWithConditions) bool { return len(known([]string{c.Name})) == 0 })
	}
	policy := seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{
		{Action: refuse, Names: known(forbidden), NamesWithCondtions: append([]seccomp.NameWithConditions{
			{Name: "clone", Conditions: seccomp.ArgumentConditions{makes, stranger}},
			{Name: "unshare", Conditions: seccomp.ArgumentConditions{makes}},
			// All threads of a process have the same files open, or the node would not see those of a thread.
			{Name: "unshare", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet,
				Value: unix.CLONE_FILES}}},
			{Name: "close_range", Conditions: seccomp.ArgumentConditions{{Argument: 2, Operation: seccomp.BitsSet,
				Value: unix.CLOSE_RANGE_UNSHARE}}},
			{Name: "clone", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet,
				Value: unix.CLONE_THREAD},
				{Argument: 0, Operation: seccomp.BitsNotSet, Value: unix.CLONE_FILES}}},
			{Name: "mount", Conditions: seccomp.ArgumentConditions{stranger}},
			{Name: "open_tree", Conditions: seccomp.ArgumentConditions{stranger}},
			{Name: "move_mount", Conditions: seccomp.ArgumentConditions{stranger}},
			{Name: "setns", Conditions: seccomp.ArgumentConditions{stranger}},
			// The limits of others: a stub that can open nothing could not be asked what its box holds. A child's are its own to
			// set.
			{Name: "prlimit64", Conditions: seccomp.ArgumentConditions{
				{Argument: 0, Operation: seccomp.NotEqual, Value: 0}, {Argument: 2, Operation: seccomp.NotEqual, Value: 0}}},
			{Name: "move_pages", Conditions: noneOf(0, 0)}, {Name: "migrate_pages", Conditions: noneOf(0, 0)}, // of others
			{Name: "personality", Conditions: noneOf(0, personalities...)},
		}, modes...)},
		{Action: seccomp.ActionErrno | seccomp.Action(unix.EAFNOSUPPORT), NamesWithCondtions: []seccomp.NameWithConditions{
			{Name: "socket", Conditions: noneOf(0, families...)}, {Name: "socketpair", Conditions: noneOf(0, unix.AF_UNIX)}}},
		{Action: lack, Names: known(lacking)},
	}}
	program, err := policy.Assemble()
	if err != nil {
		return nil, fmt.Errorf("filter of system calls: %w", err)
	}
	// The library lets calls of another architecture pass, as those of 32 bits; here they do not exist.
	first := []bpf.Instruction{bpf.LoadAbsolute{Off: 4, Size: 4}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID),
		SkipTrue: 1},
		bpf.RetConstant{Val: uint32(lack)}, bpf.LoadAbsolute{Off: 0, Size: 4}}
	most := known(frequent)
	for i, name := range most {
		first = append(first, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.SyscallNames[name]),
			SkipTrue: uint8(len(most) - i)})
	}
	program = slices.Concat(first, []bpf.Instruction{bpf.Jump{Skip: 1}, bpf.RetConstant{Val: uint32(seccomp.ActionAllow)}},
		program)
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, fmt.Errorf("filter of system calls: %w", err)
	}
	out := make([]zygote.Instruction, len(raw))
	for i, r := range raw {
		out[i] = zygote.Instruction{Op: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return out, nil
}

// noneOf matches an argument that is none of the values. Of some the kernel looks at the lower half only: what is set
// in the upper one makes it none of them.
func noneOf(argument uint32, values ...uint64) (conditions seccomp.ArgumentConditions) {
	for _, v := range values {
		conditions = append(conditions, seccomp.Condition{Argument: argument, Operation: seccomp.NotEqual, Value: v})
	}
	return conditions
}

// setsMode are the calls that make a file set-user-ID or set-group-ID. Those that open look at the mode only if they
// make one.
func setsMode() []seccomp.NameWithConditions {
	mode := func(argument uint32) seccomp.Condition {
		return seccomp.Condition{Argument: argument, Operation: seccomp.BitsSet, Value: unix.S_ISUID | unix.S_ISGID}
	}
	makes := func(argument uint32) seccomp.Condition {
		return seccomp.Condition{Argument: argument, Operation: seccomp.BitsSet,
			Value: unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY}
	}
	return []seccomp.NameWithConditions{
		{Name: "chmod", Conditions: seccomp.ArgumentConditions{mode(1)}},
		{Name: "fchmod", Conditions: seccomp.ArgumentConditions{mode(1)}},
		{Name: "fchmodat", Conditions: seccomp.ArgumentConditions{mode(2)}},
		{Name: "fchmodat2", Conditions: seccomp.ArgumentConditions{mode(2)}},
		{Name: "open", Conditions: seccomp.ArgumentConditions{makes(1), mode(2)}},
		{Name: "openat", Conditions: seccomp.ArgumentConditions{makes(2), mode(3)}},
		{Name: "creat", Conditions: seccomp.ArgumentConditions{mode(1)}},
		{Name: "mknod", Conditions: seccomp.ArgumentConditions{mode(1)}},
		{Name: "mknodat", Conditions: seccomp.ArgumentConditions{mode(2)}},
	}
}
