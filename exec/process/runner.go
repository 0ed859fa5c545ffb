package process

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
	"skep/grid"
)

// Options are the node's settings for all its tasks.
type Options struct {
	// Sandbox says what boxes tasks run in, and where their folders are.
	Sandbox sandbox.Options

	// Nice is added to the niceness of tasks, 0 to 19. Higher leaves more of a busy machine to the
	// node and to its owner. Default 0.
	Nice int
}

// ErrClosed is the error of Start after Close.
var ErrClosed = errors.New("process: runner is closed")

// Runner starts tasks. All its methods may be called at the same time.
type Runner struct {
	nice    int
	work    string // the folder of attempts
	null    int    // /dev/null, the stdin of tasks that have no other
	sandbox *sandbox.Sandbox
	watch   watcher
	spares  spares

	mu     sync.Mutex
	closed bool
	live   map[*Process]struct{}
	owners map[string]Account // by folder, where the node is root
	hung   map[string]bool    // the folders of tasks of which processes hang
	used   time.Duration      // processor time of those that have ended
	tasks  sync.WaitGroup
}

// New makes a Runner; Close ends it.
func New(o Options) (*Runner, error) {
	if o.Nice < 0 || o.Nice > 19 {
		return nil, fmt.Errorf("process: niceness %d is not between 0 and 19", o.Nice)
	}
	r := &Runner{nice: o.Nice, work: o.Sandbox.Work, live: make(map[*Process]struct{}), owners: make(map[string]Account),
		hung: make(map[string]bool)}
	var err error
	if r.null, err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("process: open %s: %w", os.DevNull, err)
	}
	if r.sandbox, err = sandbox.Open(o.Sandbox); err != nil {
		unix.Close(r.null)
		return nil, fmt.Errorf("process: %w", err)
	}
	if o.Sandbox.Dir != "" {
		r.spares.open(filepath.Join(o.Sandbox.Dir, "spare"))
	}
	r.watch.init(r.sandbox.Boxes())
	return r, nil
}

// Isolation is the level that tasks are kept at, and what is missing for a higher one.
func (r *Runner) Isolation() (grid.Isolation, []sandbox.Finding) {
	return r.sandbox.Level(), r.sandbox.Findings()
}

// Processes is how many processes and threads a task of one core may have that asks for more, and what bounds them; 0
// where nothing does.
func (r *Runner) Processes() (n int64, by string) { return r.sandbox.Processes() }

// Boxed reports whether tasks run in boxes.
func (r *Runner) Boxed() bool { return r.sandbox.Boxes() }

// NewPod makes what ranks of a gang on this machine share, with at most so many bytes in /dev/shm. They need one user:
// the account to call Prepare with for each, where the node is root. The caller ends both with giveBack, once all their
// folders are removed, and says whether processes of theirs may be left.
func (r *Runner) NewPod(memory int64) (p *sandbox.Pod, as Account, giveBack func(left bool), err error) {
	if p, err = r.sandbox.NewPod(memory); err != nil {
		return nil, Account{}, nil, fmt.Errorf("process: %w", err)
	}
	leased, err := r.lease()
	if err != nil {
		p.Close()
		return nil, Account{}, nil, fmt.Errorf("process: %w", err)
	}
	as = leased
	if as.UID != 0 {
		as.Name = "gang" // of several attempts: none of them gives it back
	}
	return p, as, func(left bool) { p.Close(); r.giveBack(leased, left) }, nil
}

// Start runs s and returns once its program has been executed. An error of type *ExecError means that
// this machine cannot run the program; any other error says nothing about the program.
func (r *Runner) Start(s Spec) (p *Process, err error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Workdir != "" {
		if _, err := os.Stat(s.Workdir); errors.Is(err, fs.ErrNotExist) {
			return nil, &ExecError{CannotExecute, "workdir " + s.Workdir, unix.ENOENT}
		}
	}
	if len(s.Secrets) > 0 && !r.sandbox.Boxes() {
		return nil, fmt.Errorf("process: start %s: it has secrets, which only tasks in boxes get", s.Argv[0])
	}
	pipe := openProgress(&s)
	defer func() {
		if err != nil && pipe != nil {
			pipe.Close()
		}
	}()
	env := r.environ(&s, pipe != nil)
	path, err := r.program(&s, env)
	if err != nil {
		return nil, err
	}
	if to := r.Owner(s.Dir); to.UID != 0 && !r.sandbox.Boxes() {
		if err := passable(s.Dir, to.UID); err != nil {
			return nil, err
		}
	}
	p = &Process{spec: s, progress: pipe, done: make(chan struct{})}
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
	p.spec.Secrets = slices.Clone(p.spec.Secrets)
	for i := range p.spec.Secrets {
		p.spec.Secrets[i].Value = nil // it is the task's now; that there is one, commands beside it are told
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
	r.watch.enter(p.spec.Dir)
	return nil
}

func (r *Runner) leave(p *Process) {
	r.mu.Lock()
	delete(r.live, p)
	r.mu.Unlock()
	r.watch.leave(p.spec.Dir)
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
	r.watch.close()
	r.spares.close()
	r.sandbox.Close()
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
		res.Kept[i] = p.out[i].size
		if res.NotKept == nil {
			res.NotKept = p.out[i].err
		}
	}
	r.mu.Lock()
	r.used += res.CPU
	r.mu.Unlock()
	r.leave(p)
	close(p.done)
}

// heaviest is the highest weight of a control group (cgroup v2); the lowest is 1.
const heaviest = 10_000

// groupWeightOf is the weight of the control group of a task on a machine of so many processors: in proportion to
// Weight and cores, at most heaviest for one with Weight 1 that needs them all. 0 = it has no Weight.
func groupWeightOf(s *Spec, processors int) int {
	if s.Weight == 0 {
		return 0
	}
	cores := 1.0
	if s.CPU > 0 {
		cores = s.CPU.Cores()
	}
	w := math.Round(heaviest * s.Weight * cores / float64(processors))
	return int(min(max(w, 1), heaviest))
}

// niceStep is by how much a step of niceness lowers what the kernel gives a process: sched_prio_to_weight.
const niceStep = 1.25

// nicenessOf is the niceness of a task. Each of its threads counts, so the cores that it needs do not.
func (r *Runner) nicenessOf(s *Spec) int {
	if s.Weight == 0 {
		return r.nice
	}
	return min(r.nice+int(math.Round(-math.Log(s.Weight)/math.Log(niceStep))), 19)
}
