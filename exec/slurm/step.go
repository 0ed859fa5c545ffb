package slurm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"skep/exec/external"
	"skep/exec/process"
)

// stdinFile is the standard input of a task that has one.
const stdinFile = "stdin"

// passed are the variables of the batch job that a task sees besides SLURM_*: which devices it was given.
var passed = []string{"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"}

// RunStep runs, on a compute node, the order in dir if it is still to be run by submission k. It returns the exit code
// of the batch job, which is the task's.
func RunStep(dir, k string) (code int, err error) {
	n, err := strconv.Atoi(k)
	if err != nil {
		return 125, fmt.Errorf("submission %.20q: want a number", k)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	var o Order
	if err := external.ReadRecord(filepath.Join(dir, orderFile), &o); err != nil {
		return 125, err
	}
	host, _ := os.Hostname()
	job := os.Getenv("SLURM_JOB_ID")
	if o.Submission != n || o.Dir != dir {
		return 0, nil // the node has made another one of it since
	}
	if _, own, err := (claim{By: byStep, Host: host, Job: job, Key: o.Key}).take(dir, n); err != nil || !own {
		return 0, err
	}
	s := step{order: &o, end: end{Key: o.Key, Started: time.Now(), Job: job, Host: host}}
	s.run(stop)
	s.end.Wall = time.Since(s.end.Started)
	if err := external.WriteRecord(filepath.Join(dir, endFile), &s.end); err != nil {
		return 125, fmt.Errorf("write down how the task ended: %w", err)
	}
	r := s.end.result(o.MaxOutput)
	return r.Code(), nil
}

// step is an order that runs.
type step struct {
	order *Order
	end   end
	out   [2]stream
}

// run runs the command to its end, and all that it has left behind.
func (s *step) run(stop <-chan os.Signal) {
	o := s.order
	cmd, err := s.command()
	var pipes [2]*os.File
	copied := make(chan struct{}, len(pipes))
	if err == nil {
		err = s.start(cmd, &pipes)
	}
	if err != nil {
		s.end.Cause, s.end.Error = process.CannotExecute, fmt.Sprintf("%s: %v", o.Argv[0], err)
		if cmd == nil && errors.Is(err, fs.ErrNotExist) { // else it is there, and its interpreter is not
			s.end.Cause = process.NotFound
		}
		return
	}
	for i, p := range pipes {
		go func() { s.out[i].copy(p); copied <- struct{}{} }()
	}
	pid := cmd.Process.Pid
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	s.follow(pid, exited, stop)
	if state := cmd.ProcessState; state != nil {
		s.settle(state)
	}
	term := s.end.Signal == int(syscall.SIGTERM) || s.end.Exit == 128+int(syscall.SIGTERM)
	if term && s.end.Cause != process.TimedOut && !s.end.Stopped { // Slurm signals the task itself too, in any order
		select {
		case <-stop:
			s.end.Stopped, s.end.Cause, s.end.Error = true, process.Cancelled, "cancelled"
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.endLeftovers(pid)
	drained := time.After(time.Second) // who has left the group may hold it open
	for range pipes {
		select {
		case <-copied:
		case <-drained:
			closeAll(pipes[:])
			<-copied
		}
	}
	for i := range s.out {
		s.end.Kept[i], s.end.Dropped[i] = s.out[i].close()
		if err := s.out[i].err; err != nil && s.end.NotKept == "" {
			s.end.NotKept = err.Error()
		}
	}
}

// command is what to run. A relative program is in the work folder, one without a slash in the task's PATH.
func (s *step) command() (*exec.Cmd, error) {
	o := s.order
	work := process.Work(o.Dir)
	env := o.Env
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "SLURM_") || contains(passed, name) {
			env = append(env, v)
		}
	}
	path, err := find(o.Argv[0], work, env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: o.Argv, Env: env, Dir: work, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if o.Stdin {
		f, err := os.Open(filepath.Join(o.Dir, stdinFile))
		if err != nil {
			return nil, fmt.Errorf("standard input: %v", err)
		}
		cmd.Stdin = f
	}
	return cmd, nil
}

// start starts the command with its output in pipes, of which it returns the ends to read.
func (s *step) start(cmd *exec.Cmd, read *[2]*os.File) error {
	var write [2]*os.File
	defer func() { closeAll(write[:]) }()
	for i := range read {
		var err error
		if read[i], write[i], err = os.Pipe(); err != nil {
			return err
		}
		s.out[i] = stream{path: process.Output(s.order.Dir, process.Stream(i)), most: s.order.MaxOutput}
	}
	cmd.Stdout, cmd.Stderr = write[0], write[1]
	err := cmd.Start()
	if f, ok := cmd.Stdin.(*os.File); ok {
		f.Close()
	}
	if err != nil {
		closeAll(read[:])
	}
	return err
}

// follow waits for the command, and ends it when its time is over or Slurm asks for it.
func (s *step) follow(pid int, exited <-chan error, stop <-chan os.Signal) {
	var limit, kill <-chan time.Time
	if s.order.Timeout > 0 {
		limit = time.After(s.order.Timeout)
	}
	end := func(c process.Cause, why string) {
		if kill == nil {
			s.end.Cause, s.end.Error = c, why
			kill = time.After(s.order.Grace)
		}
		signalGroup(pid, syscall.SIGTERM)
		signalGroup(pid, syscall.SIGCONT)
		limit = nil
	}
	for {
		select {
		case <-exited:
			return
		case <-limit:
			end(process.TimedOut, fmt.Sprintf("ran longer than its time limit of %v", s.order.Timeout))
		case <-stop:
			s.end.Stopped = s.end.Cause != process.TimedOut
			end(process.Cancelled, "cancelled")
		case <-kill:
			signalGroup(pid, syscall.SIGKILL)
			kill = time.After(time.Second)
		}
	}
}

// settle notes how the command ended.
func (s *step) settle(state *os.ProcessState) {
	s.end.CPU = state.UserTime() + state.SystemTime()
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		s.end.MaxRSS = int64(u.Maxrss) << 10
	}
	ws, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
	case ws.Signaled():
		s.end.Signal = int(ws.Signal())
		if s.end.Cause == process.Exited {
			s.end.Cause, s.end.Error = process.Signaled, fmt.Sprintf("killed by signal %d (%v)", s.end.Signal, ws.Signal())
		}
	default:
		s.end.Exit = ws.ExitStatus()
	}
}

// endLeftovers ends what the command has left in its group.
func (s *step) endLeftovers(pid int) {
	for i, sig := range [...]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if signalGroup(pid, sig) != nil {
			return
		}
		signalGroup(pid, syscall.SIGCONT)
		most := s.order.Grace
		if i == 1 {
			most = 2 * time.Second
		}
		for until := time.Now().Add(most); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
			if signalGroup(pid, 0) != nil {
				return
			}
		}
	}
}

func signalGroup(pid int, s syscall.Signal) error { return syscall.Kill(-pid, s) }
