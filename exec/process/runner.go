package process

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Options are the node's settings for all its tasks.
type Options struct {
	// User is a login name or a number. Where the node runs as root, tasks run as this user. Every
	// folder above an attempt must then let that user pass (mode 0711). Default: the node's own user.
	User string

	// Nice is added to the niceness of tasks, 0 to 19. Higher leaves more of a busy machine to the
	// node and to its owner. Default 0.
	Nice int
}

// ErrClosed is the error of Start after Close.
var ErrClosed = errors.New("process: runner is closed")

// account is a resolved Options.User.
type account struct {
	name     string
	uid, gid uint32
}

// Runner starts tasks. All its methods may be called at the same time.
type Runner struct {
	nice int
	user *account
	null int // /dev/null, every task's stdin
	host host

	mu     sync.Mutex
	closed bool
	live   map[*Process]struct{}
	used   time.Duration // processor time of those that have ended
	tasks  sync.WaitGroup
}

// New makes a Runner; Close ends it.
func New(o Options) (*Runner, error) {
	if o.Nice < 0 || o.Nice > 19 {
		return nil, fmt.Errorf("process: niceness %d is not between 0 and 19", o.Nice)
	}
	r := &Runner{nice: o.Nice, live: make(map[*Process]struct{})}
	if o.User != "" {
		a, err := resolve(o.User)
		if err != nil {
			return nil, fmt.Errorf("process: user of the tasks: %w", err)
		}
		r.user = a
	}
	var err error
	if r.null, err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("process: open %s: %w", os.DevNull, err)
	}
	r.host.init()
	return r, nil
}

func resolve(name string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("only root can run tasks as %s", name)
	}
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.LookupId(name); err != nil {
			return nil, fmt.Errorf("%q is neither a login name nor a user's number on this machine", name)
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &account{u.Username, uint32(uid), uint32(gid)}, nil
}

// Start runs s and returns once its program has been executed. An error of type *ExecError means that
// this machine cannot run the program; any other error says nothing about the program.
func (r *Runner) Start(s Spec) (*Process, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	env := environ(&s, r.user)
	path, err := program(&s, env)
	if err != nil {
		return nil, err
	}
	if r.user != nil {
		if err := r.user.passable(s.Dir); err != nil {
			return nil, err
		}
	}
	p := &Process{spec: s, done: make(chan struct{})}
	if err := r.enter(p); err != nil {
		return nil, err
	}
	for i := range p.out {
		p.out[i].path, p.out[i].max = Output(s.Dir, Stream(i)), s.MaxOutput
	}
	if err := r.launch(p, path, env); err != nil {
		r.leave(p)
		return nil, err
	}
	return p, nil
}

func (r *Runner) enter(p *Process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.live[p] = struct{}{}
	r.tasks.Add(1)
	return nil
}

func (r *Runner) leave(p *Process) {
	r.mu.Lock()
	delete(r.live, p)
	r.mu.Unlock()
	r.tasks.Done()
}

// Close stops all tasks (SIGTERM, their grace, SIGKILL) and waits for their end.
func (r *Runner) Close() error {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	for p := range r.live {
		p.stop(Cancelled)
	}
	r.mu.Unlock()
	r.tasks.Wait()
	if !first {
		return nil
	}
	r.host.close()
	unix.Close(r.null)
	return nil
}

// finish publishes the result of p.
func (r *Runner) finish(p *Process) {
	p.out[Stdout].close()
	p.out[Stderr].close()
	res := &p.result
	res.Wall = time.Since(res.Started)
	res.StdoutDropped, res.StderrDropped = p.out[Stdout].dropped, p.out[Stderr].dropped
	for i := range p.out {
		if err := p.out[i].err; err != nil && res.Error == "" {
			res.Error = err.Error()
		}
	}
	r.mu.Lock()
	r.used += res.CPU
	r.mu.Unlock()
	r.leave(p)
	close(p.done)
}
