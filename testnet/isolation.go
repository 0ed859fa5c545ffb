package testnet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"skep/grid"
)

// Isolation is what `skep isolation --output json` prints: the level of the boxes that can be made where it runs, and
// what is missing for a higher one.
type Isolation struct {
	Level    string   `json:"level"`
	Findings []string `json:"findings,omitempty"`
}

// levelTime bounds finding a level.
const levelTime = 30 * time.Second

// none reports whether there are no boxes. Only then nodes are told to take tasks of others without.
func (i *Isolation) none() bool { return i.Level == grid.IsolationNone.String() }

// said is the level for people.
func (i *Isolation) said() string {
	switch {
	case i.Level == "":
		return "isolation of tasks not known: " + strings.Join(i.Findings, ". ")
	case i.none():
		return "isolation of tasks none, so with --isolation none: " + strings.Join(i.Findings, ". ")
	}
	return "isolation of tasks " + i.Level
}

// findLevel asks the nodes' program which level it finds where they run. What cannot be found the nodes will say
// themselves.
func (t *Net) findLevel(ctx context.Context) error {
	whole := ctx
	ctx, stop := context.WithTimeout(ctx, levelTime)
	defer stop()
	text, err := t.m.level(ctx)
	if err == nil {
		err = json.Unmarshal(text, &t.state.Isolation)
	}
	if err == nil {
		_, err = grid.ParseIsolation(t.state.Isolation.Level)
	}
	if err != nil {
		t.state.Isolation = Isolation{Findings: []string{err.Error()}}
	}
	return whole.Err()
}

// boxed are the settings of every node that concern what tasks may reach.
func (t *Net) boxed() map[string]any {
	m := map[string]any{}
	if t.Kind() == Processes {
		m["hide"] = []string{t.dir} // each other's data folders, and the token
	}
	if t.state.Isolation.none() {
		m["isolation"] = t.state.Isolation.Level
	} else if s := t.state.Spec.Shared; s != "" {
		m["expose"] = []string{s + ":rw"}
	}
	return m
}

// letPass lets others pass, not look, to the data folders of nodes: without boxes root's tasks are users of their own.
func (t *Net) letPass() error {
	if !t.state.Isolation.none() || os.Geteuid() != 0 {
		return nil
	}
	for i := range t.state.Nodes {
		n := &t.state.Nodes[i]
		top := filepath.Dir(t.dir)
		if t.Kind() == Containers { // which see no more
			top = t.home(n)
		}
		for at := t.Folder(n); len(at) >= len(top); at = filepath.Dir(at) {
			if err := os.Chmod(at, 0o711); err != nil {
				return err
			}
		}
	}
	return nil
}

// level runs the program as nodes are: what a kernel lets a program do may depend on its path. It is marked as they
// are, so that Down ends it should this program be killed.
func (p *processes) level(ctx context.Context) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.t.binary(), levelArgs...)
	cmd.Env = append(without(os.Environ(), "SKEP_"), marker+"="+filepath.Join(p.nodes(), levelFolder))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}

var levelArgs = []string{"isolation", "--output", "json"}

// What stands for a node while the level is found out: a folder, and in a container a file in it.
const (
	levelFolder = "level"
	levelFile   = "isolation.json"
)

// level runs a container that is like that of the first node: what it may do decides, not what this program may.
func (d *containers) level(ctx context.Context) (text []byte, err error) {
	dir := filepath.Join(d.t.dir, levelFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	n := d.t.state.Nodes[0]
	n.Name = levelFolder
	r := d.recipe(&n)
	r.HostConfig.Binds[0] = dir + ":" + nodeMount
	r.Config.Env = []string{"TMPDIR=" + nodeMount}
	r.Config.Cmd = []string{fmt.Sprintf("exec /bin/skep %s >%s/%s", strings.Join(levelArgs, " "), nodeMount, levelFile)}
	if _, err := d.c.ContainerCreate(ctx, *r); err != nil {
		return nil, fmt.Errorf("docker: make container: %w", err)
	}
	defer func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), engineTime)
		defer stop()
		_, gone := d.c.ContainerRemove(ctx, r.Name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		err = errors.Join(err, gone)
	}()
	wait := d.c.ContainerWait(ctx, r.Name, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	if _, err := d.c.ContainerStart(ctx, r.Name, client.ContainerStartOptions{}); err != nil {
		return nil, fmt.Errorf("docker: start container: %w", err)
	}
	select {
	case err := <-wait.Error:
		return nil, fmt.Errorf("docker: wait for container: %w", err)
	case end := <-wait.Result:
		if end.StatusCode != 0 {
			return nil, fmt.Errorf("skep isolation ended with %d in a container", end.StatusCode)
		}
	}
	return os.ReadFile(filepath.Join(dir, levelFile))
}
