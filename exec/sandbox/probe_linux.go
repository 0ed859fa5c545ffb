//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// probeTime bounds a probe: it takes some hundredths of a second.
const probeTime = 10 * time.Second

// probeProcs and probeMemory are the bounds of a probe.
const (
	probeProcs  = 64
	probeMemory = 256 << 20

	probeSockets = 64 // of the machine's that it tries to connect to
)

// foreign are places that no task should see.
var foreign = []string{"/root", "/home", "/var/run/docker.sock", "/run/user", "/etc/shadow", "/dev/mem", "/dev/sda",
	"/dev/vda", "/dev/kvm"}

// probe runs the short list of attacks in a box of each kind, and says which level holds and what is missing for a
// higher one, beside what is known before.
func (s *Sandbox) probe(known []Finding) (grid.Isolation, []Finding) {
	finds, err := s.probeBox(&Spec{Network: grid.NetworkHost})
	if err != nil {
		return grid.IsolationNone, []Finding{unboxed(err)}
	}
	finds = append(finds, known...)
	if s.groups == nil {
		finds = append(finds, Finding{Property: Kernel, What: "there is no control group that this node may divide",
			Remedy: "run it as root, or as `systemd-run --user --scope -p Delegate=yes skep up`"})
		return levelOf(finds), finds
	}
	strict, err := s.probeBox(&Spec{Network: grid.NetworkNone, Strict: true})
	if err != nil {
		strict = []Finding{{Property: Kernel, What: err.Error()}}
	}
	for i := range strict {
		strict[i].Property = max(strict[i].Property, Kernel)
	}
	finds = append(finds, strict...)
	return levelOf(finds), finds
}

// probeBox runs the attacks in a box and looks at what it left behind.
func (s *Sandbox) probeBox(spec *Spec) (finds []Finding, err error) {
	name := fmt.Sprintf("probe-%x", rand.Uint64())
	defer os.RemoveAll(filepath.Join(s.opts.Work, name))
	id, err := s.probeFolder(name)
	if err != nil {
		return nil, err
	}
	defer s.ids.release(id, false)
	a := attempt{Node: os.Getpid(), Hidden: whatIs(s.hidden()), Key: int(rand.Int32()) | 1,
		Abstract: name, File: name, Procs: probeProcs, Alone: spec.Network == grid.NetworkNone,
		Sockets: append(slices.Clone(s.tree.sockets[:min(len(s.tree.sockets), probeSockets)]),
			filepath.Join(os.TempDir(), name+".sock"))}
	a.PIDs, _ = os.Readlink("/proc/self/ns/pid")
	home, _ := os.UserHomeDir()
	for _, path := range append([]string{home}, foreign...) {
		if path != "" && !slices.ContainsFunc(s.opts.Expose, func(e Expose) bool {
			return inside(path, e.Path) ||
				inside(e.Path, path)
		}) {
			a.Foreign = append(a.Foreign, path) // what the operator shows is no finding
		}
	}
	for _, at := range []string{a.Sockets[len(a.Sockets)-1], "@" + a.Abstract} {
		if l, err := net.Listen("unix", at); err == nil {
			defer l.Close()
		}
	}
	spec.Folder, spec.Memory, spec.Procs = name, probeMemory, probeProcs
	told, unseen, err := s.runProbe(spec, &a, id)
	if err != nil {
		return nil, err
	}
	if unseen != nil {
		finds = append(finds, Finding{Property: Bounds,
			What:   fmt.Sprintf("what it has open cannot be looked at, and is not counted: %v", unseen),
			Remedy: "in a container: give it the capability SYS_PTRACE"})
	}
	for line := range strings.Lines(told) {
		number, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if p, err := strconv.Atoi(number); err == nil && p <= int(Kernel) {
			finds = append(finds, Finding{Property: Property(p), What: what})
		}
	}
	return append(finds, a.left()...), nil
}

// probeFolder makes the folder of a probe as that of an attempt is made.
func (s *Sandbox) probeFolder(name string) (id uint32, err error) {
	if s.ids != nil {
		if id, err = s.ids.take(); err != nil {
			return 0, err
		}
	}
	dir := filepath.Join(s.opts.Work, name)
	if err := os.Mkdir(dir, 0o711); err != nil {
		return id, err
	}
	for _, d := range [...]string{"work", "tmp"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(dir, d), 0o700))
		if id != 0 {
			err = errors.Join(err, os.Chown(filepath.Join(dir, d), int(id), int(id)))
		}
	}
	return id, err
}

// runProbe returns what a probe told, once nothing of it is left, and why it could not be looked at from outside, if
// so.
func (s *Sandbox) runProbe(spec *Spec, a *attempt, id uint32) (said string, unseen, err error) {
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return "", nil, err
	}
	defer self.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return "", nil, err
	}
	defer null.Close()
	held, hold, err := os.Pipe() // the probe begins when nobody has the other end
	if err != nil {
		return "", nil, err
	}
	defer held.Close()
	defer hold.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return "", nil, err
	}
	defer r.Close()
	text, err := json.Marshal(a)
	if err != nil {
		return "", nil, err
	}
	spec.Command = Command{Path: "/", Dir: "/task/work", Argv: []string{probeName, string(text)},
		Env: []string{"GOTRACEBACK=none"}, UID: id, GID: id,
		Files: [3]int{int(held.Fd()), int(w.Fd()), int(null.Fd())}, program: int(self.Fd())}
	b, err := s.Start(spec)
	w.Close()
	if err != nil {
		return "", nil, fmt.Errorf("try a box: %w", err)
	}
	defer b.Close()
	r.SetReadDeadline(time.Now().Add(2 * probeTime))
	r.Read(make([]byte, len("begun"))) // the kernel says that it was executed a moment before it lets others look at it
	unseen = b.lookAt()
	hold.Close()
	grace := time.AfterFunc(probeTime, func() { b.Signal(unix.SIGKILL) })
	defer grace.Stop()
	go func() {
		<-b.Exited()
		b.Signal(unix.SIGKILL) // what it left has had SIGTERM, and does not heed it
	}()
	r.SetReadDeadline(time.Now().Add(2 * probeTime))
	told, err := io.ReadAll(r) // until no process has the other end any more
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		told = fmt.Appendf(told, "\n%d a process outlives its box\n", Leftovers)
	case err != nil:
		return "", nil, err
	case !bytes.HasSuffix(told, []byte("done\n")):
		return "", nil, fmt.Errorf("try a box: its probe did not come to its end: %v", b.End().Status)
	}
	return string(told), unseen, nil
}

// lookAt tries what the watch of memory and disk does: to see what the box's command has open.
func (b *Box) lookAt() error {
	proc, shm, ipc, err := b.Look()
	if err != nil {
		return err
	}
	for _, f := range append(ipc[:], proc, shm) {
		if f != nil {
			defer f.Close()
		}
	}
	_, err = os.Readlink(fmt.Sprintf("/proc/self/fd/%d/%d/fd/0", proc.Fd(), b.Pid()))
	return err
}

// left looks for what a probe left outside its box.
func (a *attempt) left() (finds []Finding) {
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		if os.Remove(filepath.Join(dir, a.File)) == nil {
			finds = append(finds, Finding{Property: Leftovers, What: "files that it makes in " + dir + " stay there"})
		}
	}
	if id, err := unix.SysvShmGet(a.Key, 0, 0); err == nil {
		unix.SysvShmCtl(id, unix.IPC_RMID, nil)
		finds = append(finds, Finding{Property: Leftovers, What: "its shared memory stays"})
	}
	return finds
}

// unboxed says why there are no boxes, and what helps on this machine.
func unboxed(err error) Finding {
	f := Finding{Property: Processes, What: "no box can be made: " + strings.ReplaceAll(err.Error(), "\n", "; ")}
	if errors.Is(err, unix.ENOSYS) {
		f.Remedy = "take Linux 5.12 or newer, as Debian 12, Ubuntu 22.04 and RHEL 9 have; " +
			"in a container: give it a seccomp profile that permits mount_setattr"
		return f
	}
	for _, cause := range []struct{ file, value, remedy string }{
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
			"AppArmor keeps this program from making user namespaces: docs/trust.md has the profile that lets it, or set " +
				"sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "set sysctl kernel.unprivileged_userns_clone=1"},
		{"/proc/sys/user/max_user_namespaces", "0", "set sysctl user.max_user_namespaces=15000"},
	} {
		if b, err := os.ReadFile(cause.file); err == nil && strings.TrimSpace(string(b)) == cause.value && os.Geteuid() != 0 {
			f.Remedy = cause.remedy
			return f
		}
	}
	if os.Geteuid() == 0 && errors.Is(err, os.ErrPermission) {
		f.Remedy = "in a container: give it the capability SYS_ADMIN, and neither a seccomp nor an AppArmor profile that " +
			"forbids mounts, nor masked paths in /proc"
	}
	return f
}
