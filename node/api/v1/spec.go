package v1

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"skep/grid"
)

// Defaults of a job.
const (
	DefaultCores   = 1.0
	DefaultCount   = 1
	DefaultRetries = 2 // further attempts after a lost one
)

// Spec is what to run.
type Spec struct {
	Name    string            `json:"name,omitempty" doc:"For people."`
	Class   string            `json:"class,omitempty" doc:"Tasks that run alike; engine and program if left out."`
	Engine  string            `json:"engine,omitempty" doc:"process if left out."`
	Command []string          `json:"command" doc:"The program and its arguments."`
	Count   uint32            `json:"count,omitempty" doc:"Number of tasks; 1 if left out."`
	Needs   Needs             `json:"needs,omitempty" doc:"What a node must have for a task."`
	Inputs  []File            `json:"inputs,omitempty" doc:"Files put into the work folder before the program starts."`
	Outputs []string          `json:"outputs,omitempty" doc:"Patterns in the work folder, collected after the program ended."`
	Env     map[string]string `json:"env,omitempty" doc:"Environment of the program."`
	Timeout float64           `json:"timeout_seconds,omitempty" doc:"Bound of the time a task runs; 0 is none."`
	Retries *int32            `json:"retries,omitempty" doc:"Further attempts after a lost one; 0 runs at most once; 2 if left out."`
	Policy  string            `json:"policy,omitempty" doc:"Placement policy; the node's if left out."`
	Wait    bool              `json:"wait,omitempty" doc:"Wait when nobody can run it, rather than fail."`

	Idempotent bool `json:"idempotent,omitempty" doc:"A task may run twice at once without harm: a policy with copies may start a second one."`

	TaskData
	Rules

	Isolation string `json:"isolation,omitempty" enum:"none,basic,strict" doc:"Least level at which a node must keep the tasks from itself; any if left out."`
	Network   string `json:"network,omitempty" enum:"host,none,gang" doc:"What the tasks reach of the network: what their node reaches, nothing, or the other ranks of their gang; host if left out, gang of a gang, else none with isolation strict."`

	Access     string `json:"access,omitempty" doc:"Who may see the job and cancel it: members, or owner; the node's if left out."`
	Capability string `json:"capability_sha256,omitempty" doc:"Of access owner: the SHA-256, in hexadecimal, of the line \"skep capability 1\" and an Ed25519 public key, whose private key the caller keeps: it signs requests in the header Skep-Proof."`
}

// TaskData is what tasks read beside their inputs, how they run, what makes one differ from another, and what they wait
// for.
type TaskData struct {
	Options []Option `json:"options,omitempty" doc:"Ways in which a task can run, of which the grid chooses one for each; it learns which from SKEP_OPTION, counted from 0, and SKEP_CPUS. The needs of the job are what each has that says nothing else."`

	Array *Array `json:"array,omitempty" doc:"Values of the tasks; without it they differ by SKEP_INDEX."`
	Stdin *Stdin `json:"stdin,omitempty" doc:"What the tasks read as their standard input; nothing if left out."`

	Workdir string      `json:"workdir,omitempty" doc:"Absolute path of the folder in which the tasks start, in a folder that their node exposes for writing; their own work folder if left out."`
	Gang    *Gang       `json:"gang,omitempty" doc:"The tasks are the ranks of a gang: they start together or not at all."`
	Secrets []SecretUse `json:"secrets,omitempty" doc:"Secrets that the tasks get, in boxes alone."`
	Home    string      `json:"home,omitempty" doc:"Absolute path of $HOME, in a folder that their node exposes; the own work folder if left out."`
	Order
	Outer
}

// File is a blob with a path in a work folder.
type File struct {
	Path string `json:"path" doc:"Relative to the work folder, with slashes."`
	Blob string `json:"blob" doc:"SHA-256 of the content, in hexadecimal."`
	Size int64  `json:"size_bytes"`
	Exec bool   `json:"exec,omitempty" doc:"The owner may execute it."`
}

// Grid converts the spec to a grid.JobSpec. It checks only what cannot be represented there; JobSpec.Check does the
// rest.
func (s *Spec) Grid() (*grid.JobSpec, error) {
	g := &grid.JobSpec{
		Name: s.Name, Class: s.Class, Engine: s.Engine, Command: s.Command, Count: s.Count,
		Outputs: s.Outputs, Timeout: seconds(s.Timeout), Retries: DefaultRetries, Policy: s.Policy, Wait: s.Wait,
		Idempotent: s.Idempotent, Rules: grid.Rules{OnFailure: s.OnFailure.rule(),
			MaxFailures: s.MaxFailures, MaxRunning: s.MaxRunning, Bid: s.bid()},
	}
	if g.Engine == "" {
		g.Engine = grid.EngineProcess
	}
	if s.Gang != nil {
		if err := s.Gang.apply(g); err != nil {
			return nil, err
		}
	}
	if g.Count == 0 {
		g.Count = DefaultCount
	}
	if s.Retries != nil {
		g.Retries = *s.Retries
	}
	if x := g.Gang.Search; x != nil {
		x.CountsMoves = g.Retries > 0 && g.Gang.Terms().Moves > 0
	}
	g.Needs.CPU, g.Needs.Memory = Cores(s.Needs.Cores), grid.Bytes(s.Needs.Memory)
	for k, v := range s.Needs.Labels {
		g.Needs.Labels = append(g.Needs.Labels, grid.LabelNeed{Key: k, Values: v})
	}
	if err := errors.Join(s.Deadline.apply(g), s.Budget.apply(g), s.Rules.reliable(g), s.isolate(g)); err != nil {
		return nil, err
	}
	if err := errors.Join(s.Needs.counts(&g.Needs), s.expressions(g), s.secrets(g)); err != nil {
		return nil, err
	}
	s.Stdin.need(g)
	s.Outer.apply(g)
	g.AddFolders(grid.Folders{Work: s.Workdir, Home: s.Home})
	for k, v := range s.Env {
		g.Env = append(g.Env, grid.Var{Name: k, Value: v})
	}
	slices.SortFunc(g.Env, func(a, b grid.Var) int { return strings.Compare(a.Name, b.Name) })
	if err := s.array(g); err != nil {
		return nil, err
	}
	if err := s.Order.grid(g); err != nil {
		return nil, err
	}
	slices.SortFunc(g.Needs.Labels, func(a, b grid.LabelNeed) int { return strings.Compare(a.Key, b.Key) })
	if err := errors.Join(s.options(g), s.access(g)); err != nil {
		return nil, err
	}
	for _, f := range s.Inputs {
		id, err := grid.ParseBlobID(f.Blob)
		if err != nil {
			return nil, err
		}
		g.Inputs = append(g.Inputs, grid.File{Path: f.Path, Blob: id, Size: grid.Bytes(f.Size), Exec: f.Exec})
	}
	return g, s.Stdin.set(g, s.Retries)
}

// isolate sets the isolation and network access of the job's tasks.
func (s *Spec) isolate(g *grid.JobSpec) error {
	if _, twice := s.Needs.Labels[grid.IsolationLabel]; twice && s.Isolation != "" {
		return fmt.Errorf("isolation %s: needs.labels.%s says it too: want one of them", s.Isolation, grid.IsolationLabel)
	}
	level := g.Isolation()
	var err error
	if s.Isolation != "" {
		if level, err = grid.ParseIsolation(s.Isolation); err != nil {
			return err
		}
	}
	if s.Network != "" {
		if g.Network, err = grid.ParseNetwork(s.Network); err != nil {
			return err
		}
		if g.Network == grid.NetworkHost && level == grid.IsolationStrict {
			return fmt.Errorf("network host with isolation strict, which gives tasks a network of their own: want network " +
				"none, or isolation basic")
		}
	} else if g.IsGang() {
		g.Network = grid.NetworkGang
	} else if level == grid.IsolationStrict {
		g.Network = grid.NetworkNone
	}
	if g.Network == grid.NetworkNone || len(s.Secrets) > 0 {
		level = max(level, grid.IsolationBasic)
	}
	if g.Network == grid.NetworkGang {
		level = grid.IsolationStrict
		g.Needs.AddFeature(g.Gang.Ports.NetworkLabel())
	}
	if level > grid.IsolationNone && g.Isolation() < level {
		g.Needs.Labels = slices.DeleteFunc(g.Needs.Labels,
			func(l grid.LabelNeed) bool { return l.Key == grid.IsolationLabel })
		g.Needs.Labels = append(g.Needs.Labels, grid.LabelNeed{Key: grid.IsolationLabel, Values: level.AtLeast()})
	}
	return nil
}

// Cores converts cores to thousandths; 0 is one core, and what cannot be represented is refused by Check.
func Cores(c float64) grid.MilliCPU {
	switch {
	case c == 0:
		return grid.MilliCPU(DefaultCores * 1000)
	case !(c > 0 && c <= 2*grid.MaxMillis/1000):
		return -1
	}
	return grid.MilliCPU(max(1, math.Round(c*1000)))
}

// seconds converts seconds to a duration; an invalid one is refused by Check.
func seconds(s float64) time.Duration {
	if !(s >= 0) {
		return -1
	}
	return grid.Seconds(s)
}

// SpecOf converts a grid.JobSpec to a Spec.
func SpecOf(g *grid.JobSpec) *Spec {
	s := &Spec{
		Name: g.Name, Class: g.Class, Engine: g.Engine, Command: g.Command, Count: g.Count,
		Outputs: g.Outputs, Timeout: g.Timeout.Seconds(), Retries: &g.Retries, Policy: g.Policy, Wait: g.Wait,
		Idempotent: g.Idempotent,
		Needs:      Needs{Cores: float64(g.Needs.CPU) / 1000, Memory: int64(g.Needs.Memory)},
		Inputs:     FilesOf(g.WorkFiles()),
		Access:     string(g.Access()),
		TaskData: TaskData{Array: arrayOf(g.Array), Stdin: stdinOf(g), Order: orderOf(g),
			Gang: gangOf(g.Gang), Outer: Outer{g.Outer}, Secrets: secretsOf(g)},
		Rules: Rules{OnFailure: onFailureOf(&g.Rules.OnFailure), MaxFailures: g.Rules.MaxFailures,
			MaxRunning: g.Rules.MaxRunning, Priority: priorityOf(g), Deadline: deadlineOf(g.Rules.Deadline),
			Budget: budgetOf(g.Rules.Budget), Reliability: reliabilityOf(g.Rules.Reliability)},
	}
	s.Needs.setCounts(&g.Needs)
	s.Options = optionsOf(&g.Needs)
	s.setExpressions(g)
	if len(g.Needs.Labels) > 0 {
		s.Needs.Labels = make(map[string][]string, len(g.Needs.Labels))
	}
	for _, l := range g.Needs.Labels {
		if l.Key == grid.IsolationLabel && slices.Equal(l.Values, g.Isolation().AtLeast()) {
			s.Isolation = g.Isolation().String()
			continue
		}
		if s.implied(l.Key, g) {
			continue
		}
		s.Needs.Labels[l.Key] = l.Values
	}
	if g.Network != grid.NetworkHost || g.IsGang() {
		s.Network = g.Network.String()
	}
	if g.Folders != nil {
		s.Workdir, s.Home = g.Folders.Work, g.Folders.Home
	}
	if len(g.Env) > 0 {
		s.Env = make(map[string]string, len(g.Env))
	}
	for _, v := range g.Env {
		s.Env[v.Name] = v.Value
	}
	return s
}

// FilesOf converts files.
func FilesOf(files []grid.File) []File {
	var out []File
	for _, f := range files {
		out = append(out, File{Path: f.Path, Blob: f.Blob.String(), Size: int64(f.Size), Exec: f.Exec})
	}
	return out
}
