package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skep/testnet/attack/world"
)

// Bounds of a run.
const (
	jobTime = 4 * time.Minute
	atATime = 8 // attacks with attempts of their own
)

// quick are the attacks with attempts of their own that a short run tries.
var quick = []string{"box/everybody", "box/remove/links", "box/remove/odd", "box/outputs/link", "bounds/memory/private",
	"bounds/memory/leader-ended", "bounds/memory/memfd", "bounds/memory/session", "bounds/memory/dev-shm",
	"bounds/processes/forks",
	"bounds/disk/many", "bounds/disk/sparse", "bounds/files/many", "bounds/output"}

// Run attacks a node, as the user that this program runs as.
func Run(ctx context.Context, o *Options) (*Report, error) {
	s, err := set(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("attack: %w", err)
	}
	defer s.clear()
	r := &Report{Environment: o.Environment, Landlock: o.landlock(), Level: s.world.Level, Control: o.Isolation == "none"}
	attacks, err := s.list()
	if err != nil {
		return nil, fmt.Errorf("attack: %w", err)
	}
	var jobs [][]world.Attack
	var shared, cut []world.Attack
	for _, a := range attacks {
		switch {
		case a.NoNetwork && s.world.Level == "none":
			r.Outcomes = append(r.Outcomes, world.Outcome{Attack: a.Name, State: world.Untried,
				Proof: "a job without a network needs a box"})
		case a.NoNetwork:
			cut = append(cut, a)
		case !a.Alone:
			shared = append(shared, a)
		case !o.Short || slices.Contains(quick, a.Name) && s.world.Level != "none":
			jobs = append(jobs, []world.Attack{a})
		}
	}
	if jobs = append(jobs, shared); len(cut) > 0 {
		jobs = append(jobs, cut)
	}
	slices.Reverse(jobs) // what takes longest first
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(atATime)
	for i, job := range jobs {
		all.Go(func() error {
			outcomes, trouble := s.submit(ctx, fmt.Sprint("job-", i), job)
			mu.Lock()
			defer mu.Unlock()
			r.Outcomes = append(r.Outcomes, outcomes...)
			r.Trouble = append(r.Trouble, trouble...)
			return nil
		})
	}
	all.Wait()
	s.look(r)
	slices.SortFunc(r.Outcomes, func(a, b world.Outcome) int { return strings.Compare(a.Attack, b.Attack) })
	return r, nil
}

// list asks the intruder for its table.
func (s *scene) list() (attacks []world.Attack, err error) {
	cmd := exec.Command(s.o.Intruder, "list")
	cmd.Env = append(os.Environ(), world.Variable+"="+s.told())
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &attacks)
	}
	if err != nil {
		return nil, fmt.Errorf("ask the intruder for its attacks: %w", err)
	}
	seen := map[string]bool{}
	for _, a := range attacks {
		if seen[a.Name] {
			return nil, fmt.Errorf("two attacks are called %s", a.Name)
		}
		seen[a.Name] = true
	}
	return attacks, nil
}

// told is the world as the intruder is told it.
func (s *scene) told() string {
	b, _ := json.Marshal(&s.world) // of texts and numbers alone
	return string(b)
}

// submit runs attacks as a job of one task, and returns how they went.
func (s *scene) submit(ctx context.Context, name string, job []world.Attack) (outcomes []world.Outcome,
	trouble []string) {
	ctx, stop := context.WithTimeout(ctx, jobTime)
	defer stop()
	dir := filepath.Join(s.base, name)
	var names []string
	for _, a := range job {
		names = append(names, a.Name)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, []string{err.Error()}
	}
	if err := os.WriteFile(filepath.Join(dir, "list"), []byte(strings.Join(names, "\n")), 0o600); err != nil {
		return nil, []string{err.Error()}
	}
	args := []string{"run", "--cpu", "0.5", "--memory", fmt.Sprintf("%dB", boundMemory),
		"--timeout", "3m", "--retries", "0",
		"--input", "list",
		"--env", world.Variable + "=" + s.told(), "--output", "output.txt"}
	if job[0].NoNetwork {
		args = append(args, "--network", "none")
	}
	if job[0].Strict && s.world.Level == "strict" {
		args = append(args, "--isolation", "strict")
	}
	alone := job[0].Alone
	args = append(args, "--", "../intruder")
	if alone {
		args = append(args, "one", names[0])
	} else {
		args = append(args, "run", "@list")
	}
	out, code, err := s.node.client(ctx, dir, args...)
	said := map[string]bool{}
	for line := range strings.Lines(out) {
		var o world.Outcome
		if text, found := strings.CutPrefix(line, world.OutcomePrefix); found && json.Unmarshal([]byte(text), &o) == nil {
			said[o.Attack] = true
			outcomes = append(outcomes, o)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "output.txt")); err == nil && strings.Contains(string(b), s.secret) {
		outcomes = slices.DeleteFunc(outcomes, func(o world.Outcome) bool { return o.Attack == names[0] })
		outcomes = append(outcomes, world.Outcome{Attack: names[0], State: world.Succeeded,
			Proof: "the output that came back holds " + s.secret})
		return outcomes, nil
	}
	for i := range outcomes {
		outcomes[i].Beyond = job[0].Strict && s.world.Level != "strict"
	}
	for _, n := range names {
		switch {
		case said[n]:
		case alone && code != 0:
			outcomes = append(outcomes, world.Outcome{Attack: n, State: world.Refused,
				Proof: fmt.Sprintf("it was ended: %v", err)})
		default:
			trouble = append(trouble, fmt.Sprintf("%s: nothing is known of how it went: %v", n, err))
		}
	}
	return outcomes, trouble
}

// look judges what attacks left behind, and the secrets that they say to have read.
func (s *scene) look(r *Report) {
	most := goneTime
	if r.Level == "none" {
		most = goneTimeUnboxed
	}
	there := awaitGone(r.Outcomes, most)
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if what := there[o.Attack]; what != "" {
			o.State, o.Proof = world.Succeeded, what
		}
		if read := world.FindSecret([]byte(o.Proof)); read != "" && read != s.secret {
			r.Trouble = append(r.Trouble, fmt.Sprintf("%s: read %s, which was not planted", o.Attack, read))
		}
	}
	r.Breaches = s.breaches()
	for i := range r.Outcomes {
		for _, c := range r.Outcomes[i].Checks {
			remove(c)
		}
	}
}
