package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// confine restricts this thread, and so all that it forks. It says whether the thread could be moved
// to the work folder: that takes a working folder and umask of its own, which some containers refuse.
func (k *keeper) confine() (moved bool, err error) {
	if unix.Unshare(unix.CLONE_FS) == nil {
		unix.Umask(0o077)
		if err := unix.Chdir(Work(k.p.spec.Dir)); err != nil {
			return false, fmt.Errorf("go to work folder: %w", err)
		}
		moved = true
	}
	if k.r.nice > 0 {
		now, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err == nil { // the system call counts from 40 down to 1
			err = unix.Setpriority(unix.PRIO_PROCESS, 0, min(20-now+k.r.nice, 19))
		}
		if err != nil {
			return moved, fmt.Errorf("set niceness: %w", err)
		}
	}
	if os.Geteuid() == 0 {
		if err := dropCapabilities(); err != nil {
			return moved, err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return moved, fmt.Errorf("set no_new_privs: %w", err)
	}
	if k.rules >= 0 {
		return moved, restrictThread(k.rules)
	}
	return moved, nil
}

// dangerous are the capabilities that would let a task of root walk around its confinement: read the
// disk or the memory under the files, load code into the kernel, trace the node.
var dangerous = [...]uint{
	unix.CAP_DAC_READ_SEARCH, unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO, unix.CAP_SYS_PTRACE,
	unix.CAP_SYS_ADMIN, unix.CAP_SYS_BOOT, unix.CAP_MKNOD, unix.CAP_MAC_OVERRIDE, unix.CAP_MAC_ADMIN,
	unix.CAP_SYSLOG, unix.CAP_PERFMON, unix.CAP_BPF, unix.CAP_CHECKPOINT_RESTORE,
}

// dropCapabilities takes them from the calling thread; with no_new_privs its programs do not get
// them back.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	for _, c := range dangerous {
		bit := uint32(1) << (c % 32)
		data[c/32].Effective &^= bit
		data[c/32].Permitted &^= bit
		data[c/32].Inheritable &^= bit
	}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
