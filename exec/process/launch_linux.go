//go:build amd64 || arm64

package process

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
	"skep/exec/sandbox/zygote"
	"skep/exec/suspend"
)

// Terminals says that tasks may have terminals here.
const Terminals = true

// launch starts p in its box and returns when its program has been executed.
func (r *Runner) launch(p *Process, path string, env []string) error {
	to := r.Owner(p.spec.Dir)
	files := [3]int{r.stdin(&p.spec), r.null, r.null}
	var read, write [2]*os.File
	var err error
	if p.spec.Terminal == nil {
		if read, write, err = pipes(to); err == nil {
			files[1], files[2] = int(write[0].Fd()), int(write[1].Fd())
		}
	}
	if err != nil {
		return fmt.Errorf("process: start %s: %w", p.spec.Argv[0], err)
	}
	defer closeAll(write[:])
	spec := sandbox.Spec{
		Folder: filepath.Base(p.spec.Dir), Network: p.spec.Network, Pod: p.spec.Pod,
		Memory: p.spec.Memory, Procs: p.spec.MaxProcs,
		CPU: p.spec.CPU, Strict: p.spec.Strict, Devices: p.spec.Devices, Weight: groupWeight(&p.spec),
		Secrets: p.spec.Secrets,
		Command: sandbox.Command{Path: path, Dir: r.start(&p.spec), Argv: p.spec.Argv, Env: env, Nice: r.nicenessOf(&p.spec),
			CPUs: p.spec.CPUs, Files: files, Terminal: p.spec.Terminal,
			Limits: r.limits(&p.spec), UID: to.UID, GID: to.GID, Account: to.Name != ""},
	}
	if p.spec.Hosts != nil {
		spec.Hosts = hostsName
		name := filepath.Join(p.spec.Dir, hostsName)
		// Chmod, for the task's user reads it whatever this process's mask is
		if err := errors.Join(os.WriteFile(name, p.spec.Hosts, 0o644), os.Chmod(name, 0o644)); err != nil {
			closeAll(read[:])
			return fmt.Errorf("process: start %s: %w", p.spec.Argv[0], err)
		}
	}
	p.result.Started = time.Now()
	box, err := r.sandbox.Start(&spec)
	if err != nil {
		closeAll(read[:])
		var failed *sandbox.StartError
		if errors.As(err, &failed) && failed.Exec() {
			return r.execError(&p.spec, path, failed.Err)
		}
		if failed != nil && failed.Stage == zygote.StageDir && p.spec.Workdir != "" {
			return &ExecError{CannotExecute, "workdir " + p.spec.Workdir, failed.Err}
		}
		return fmt.Errorf("process: start %s: %w", p.spec.Argv[0], err)
	}
	p.pid = box.Pid()
	if p.members = p.bareMembers(); r.sandbox.Boxes() {
		p.members = suspend.Boxed(box)
	}
	if p.spec.Terminal != nil {
		read[0] = box.Terminal()
		p.terminal = read[0]
	}
	r.watch.add(p, box)
	if p.spec.Weight > 0 {
		go r.weighSession(p, box)
	}
	p.keep(r, box, read)
	return nil
}

// hostsName is the file in the folder of an attempt that is its /etc/hosts.
const hostsName = "hosts"

// pipes are the outputs of a task: here the ends that are read, as goroutines wait for them, and its own, which block.
// They are the task's, or it could not open /dev/stdout.
func pipes(to Account) (read, write [2]*os.File, err error) {
	for i := range read {
		var fds [2]int
		if err = unix.Pipe2(fds[:], unix.O_CLOEXEC); err == nil {
			err = unix.SetNonblock(fds[0], true)
			read[i], write[i] = os.NewFile(uintptr(fds[0]), "output"), os.NewFile(uintptr(fds[1]), "output")
		}
		if err == nil && to.UID != 0 {
			err = unix.Fchown(fds[1], int(to.UID), int(to.GID))
		}
		if err != nil {
			closeAll(append(read[:], write[:]...))
			return read, write, fmt.Errorf("make pipe: %w", err)
		}
	}
	return read, write, nil
}

// defaultOpen is the soft limit of open files, as most systems give it: more breaks select(2) in old programs. Up to
// the hard limit, which is the node's but at most maxOpen, a task may raise its own.
const defaultOpen = 1024

// maxOpen bounds the open files of a process: the node looks at all of them when it counts what a task holds.
const maxOpen = 65_536

// fixedLimits are the same for all tasks. No core files: they would fill the disk, and of 1 byte, unlike 0, is none
// given to a program either (core(5)). No priority above that of others. And little of what the kernel keeps for a user
// in memory that counts for nobody, which the node and all tasks may be together: locked memory, message queues, queued
// signals.
var fixedLimits = [...]struct {
	what int
	most uint64
}{{unix.RLIMIT_CORE, 1}, {unix.RLIMIT_RTPRIO, 0}, {unix.RLIMIT_NICE, 0}, {unix.RLIMIT_MEMLOCK, 8 << 20},
	{unix.RLIMIT_MSGQUEUE, 800 << 10},
	{unix.RLIMIT_SIGPENDING, 4096}}

// limits are the resource limits of a task, but for that of processes.
func (r *Runner) limits(s *Spec) []sandbox.Limit {
	limits := make([]sandbox.Limit, 0, len(fixedLimits)+4)
	set := func(what int, soft, hard uint64) {
		var now unix.Rlimit
		if unix.Getrlimit(what, &now) == nil { // without privilege a hard limit cannot be raised
			hard = min(hard, now.Max)
		}
		limits = append(limits, sandbox.Limit{What: what, Cur: min(soft, hard), Max: hard})
	}
	for _, l := range fixedLimits {
		set(l.what, l.most, l.most)
	}
	if s.MaxOpen > 0 {
		set(unix.RLIMIT_NOFILE, min(s.MaxOpen, maxOpen), min(s.MaxOpen, maxOpen))
	} else {
		set(unix.RLIMIT_NOFILE, defaultOpen, maxOpen)
	}
	if s.MaxFile > 0 {
		set(unix.RLIMIT_FSIZE, uint64(s.MaxFile), uint64(s.MaxFile))
	}
	if s.Timeout > 0 {
		// Only a backstop, for a node that is itself stopped: a process on all cores until its time limit must not meet it.
		most := float64(runtime.NumCPU()) * (s.Timeout + s.Grace + 2*time.Second).Seconds()
		if most < math.MaxUint32 {
			cpu := uint64(math.Ceil(most))
			set(unix.RLIMIT_CPU, cpu, cpu+5)
		}
	}
	return limits
}

func groupWeight(s *Spec) int { return groupWeightOf(s, runtime.NumCPU()) }

// The kernel lets others than root change one in a tenth of a second, of all there are.
const (
	sessionTries = 50
	sessionPause = 110 * time.Millisecond
)

// weighSession gives the session of a task its niceness where the kernel divides the processors between sessions first
// [sched(7), autogroup], and niceness counts within one only. It ends with the task, or when that is done.
func (r *Runner) weighSession(p *Process, box *sandbox.Box) {
	if text, err := os.ReadFile("/proc/sys/kernel/sched_autogroup_enabled"); err != nil || number(text, 0) == 0 {
		return
	}
	pid := p.pid
	if r.sandbox.Boxes() {
		if pid = hostProcess(box, pid); pid == 0 {
			return
		}
	}
	nice := strconv.AppendInt(nil, int64(r.nicenessOf(&p.spec)), 10)
	for range sessionTries {
		err := os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), nice, 0)
		if err == nil || !errors.Is(err, unix.EAGAIN) {
			return
		}
		select {
		case <-p.done:
			return
		case <-time.After(sessionPause):
		}
	}
}

// hostProcess is the ID on the machine of a process of a box; 0 = it is not found.
func hostProcess(box *sandbox.Box, inBox int) (found int) {
	proc, shm, ipc, err := box.Look()
	if err != nil {
		return 0
	}
	defer proc.Close()
	for _, f := range append(ipc[:], shm) {
		f.Close()
	}
	space, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d/%d/ns/pid", proc.Fd(), inBox))
	if err != nil {
		return 0
	}
	eachProcess(func(pid int) {
		if found > 0 {
			return
		}
		if in, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid)); err != nil || in != space {
			return
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // the last of NSpid is the innermost
		_, ids, _ := bytes.Cut(status, []byte("\nNSpid:"))
		ids, _, _ = bytes.Cut(ids, []byte("\n"))
		if f := bytes.Fields(ids); len(f) > 0 && string(f[len(f)-1]) == strconv.Itoa(inBox) {
			found = pid
		}
	})
	return found
}
