package testnet

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// found is a kind of machines that only tells a level.
type found struct {
	machines
	text string
	err  error
}

func (f found) level(context.Context) ([]byte, error) { return []byte(f.text), f.err }

// Nodes are told to do without boxes only where the level was found to be none; what was not found is no reason.
func TestWhatNodesAreToldAboutIsolation(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		err        error
		said       string
		want       map[string]any
	}{
		{Processes, `{"level": "strict"}`, nil, "isolation of tasks strict", map[string]any{"expose": []string{"/srv/x:rw"},
			"hide": []string{"/net"}}},
		{Containers, `{"level": "basic", "findings": ["f"]}`, nil, "isolation of tasks basic",
			map[string]any{"expose": []string{"/srv/x:rw"}}},
		{Containers, `{"level": "none", "findings": ["f", "g"]}`, nil,
			"isolation of tasks none, so with --isolation none: f. g", map[string]any{"isolation": "none"}},
		{Processes, `{"level": "none"}`, nil, "isolation of tasks none, so with --isolation none: ",
			map[string]any{"isolation": "none", "hide": []string{"/net"}}},
		{Containers, `{"level": "high"}`, nil, "isolation of tasks not known: ",
			map[string]any{"expose": []string{"/srv/x:rw"}}},
		{Containers, ``, nil, "isolation of tasks not known: unexpected end",
			map[string]any{"expose": []string{"/srv/x:rw"}}},
		{Containers, ``, errors.New("no container"), "isolation of tasks not known: no container",
			map[string]any{"expose": []string{"/srv/x:rw"}}},
	} {
		n := &Net{dir: "/net", state: state{Kind: c.kind, Spec: Spec{Shared: "/srv/x"}}, m: found{text: c.text, err: c.err}}
		if err := n.findLevel(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := n.state.Isolation.said(); !strings.HasPrefix(got, c.said) {
			t.Errorf("%s %q: said %q, want %q", c.kind, c.text, got, c.said)
		}
		if got := n.boxed(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %q: told %v, want %v", c.kind, c.text, got, c.want)
		}
	}
	over, stop := context.WithCancel(context.Background())
	stop()
	if err := (&Net{m: found{err: over.Err()}}).findLevel(over); err == nil {
		t.Error("a testnet that was broken off goes on")
	}
}

// Whoever reads the engine's request sees what boxes need in a container: an absent list of masked paths is the
// engine's own.
func TestContainersMayMakeBoxes(t *testing.T) {
	n := &Net{dir: t.TempDir(), state: state{Kind: Containers, Spec: Plain(1)}}
	n.state.Nodes = n.state.Spec.nodes()
	d, err := newContainers(n)
	if err != nil {
		t.Fatal(err)
	}
	defer d.c.Close()
	text, err := json.Marshal(d.recipe(&n.state.Nodes[0]).HostConfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"CapAdd":["NET_ADMIN","SYS_ADMIN","SYS_PTRACE"]`,
		`"SecurityOpt":["seccomp=unconfined","apparmor=unconfined"]`, `"MaskedPaths":[]`, `"ReadonlyPaths":[]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// Every task may write to the log of chaos, whatever user it runs as and whatever the umask is.
func TestTheLogOfChaosIsForAll(t *testing.T) {
	name := filepath.Join(t.TempDir(), ChaosLog)
	if err := makeLog(name); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if makeLog(name) == nil {
		t.Error("a log that is there already was taken for an empty one")
	}
}

// Without boxes root's tasks are users who have to pass to the nodes' folders; nobody else is let in.
func TestRootsTasksWithoutBoxesMayPass(t *testing.T) {
	for _, c := range []struct {
		kind, level    string
		above, at, own os.FileMode // of the testnet's folder, a node's, and its data folder
	}{{Processes, "none", 0o711, 0o711, 0o711}, {Containers, "none", 0o700, 0o711, 0o711},
		{Processes, "basic", 0o700, 0o700, 0o700}, {Containers, "strict", 0o700, 0o700, 0o700}} {
		dir := filepath.Join(t.TempDir(), "nets", "net")
		n := &Net{dir: dir, state: state{Kind: c.kind, Isolation: Isolation{Level: c.level}, Nodes: []Node{{Name: "n1"}}}}
		if err := os.MkdirAll(n.Folder(&n.state.Nodes[0]), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := n.letPass(); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() != 0 {
			c.above, c.at, c.own = 0o700, 0o700, 0o700
		}
		for path, want := range map[string]os.FileMode{dir: c.above, n.home(&n.state.Nodes[0]): c.at,
			n.Folder(&n.state.Nodes[0]): c.own} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s, %s: %s has mode %v, %v: want %v", c.kind, c.level, path, info.Mode(), err, want)
			}
		}
	}
}
