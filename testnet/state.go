package testnet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"skep/node/api/client"
)

// Kinds of testnets.
const (
	Containers = "containers"
	Processes  = "processes"
)

// stateFile is the file in a testnet's folder that says what is in it.
const stateFile = "testnet.json"

// state is what a testnet's folder remembers.
type state struct {
	Name   string           `json:"name"`
	Kind   string           `json:"kind"`
	Spec   Spec             `json:"spec"`
	Image  string           `json:"image,omitempty"`
	Nodes  []Node           `json:"nodes"`
	Cut    [][]string       `json:"cut,omitempty"`    // groups of nodes that do not hear each other
	Slowed map[string]Shape `json:"slowed,omitempty"` // by node
	Token  string           `json:"token"`            // to join
	Ready  bool             `json:"ready"`            // Up came to its end

	Isolation Isolation `json:"isolation"` // of tasks, as it was found before the nodes started
}

// Node is one node of a testnet.
type Node struct {
	Name   string            `json:"name"`
	Group  string            `json:"group"`
	ID     string            `json:"id"`
	IP     string            `json:"ip"`
	Port   int               `json:"port"`
	CPUs   float64           `json:"cpus"`
	Memory int64             `json:"memory"`
	Labels map[string]string `json:"labels,omitempty"`

	// what bounds its container; 0 does not
	MaxCPUs   float64 `json:"max_cpus,omitempty"`
	MaxMemory int64   `json:"max_memory,omitempty"`
}

// addr is where others reach the node.
func (n *Node) addr() string { return fmt.Sprintf("/ip4/%s/tcp/%d", n.IP, n.Port) }

// Net is a testnet.
type Net struct {
	state
	dir string
	m   machines
	mu  sync.Mutex // of what changes in the state: the cut, and who is slowed
}

// ErrNone says that there is no testnet in a folder.
var ErrNone = errors.New("there is no such testnet")

var errUnread = errors.New("what the testnet is cannot be read")

// Open returns the testnet in a folder.
func Open(dir string) (*Net, error) {
	t := &Net{dir: dir}
	b, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s", ErrNone, dir)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &t.state); err != nil {
		return nil, fmt.Errorf("%w: %s: %w: remove it with: skep testnet down", errUnread, filepath.Join(dir, stateFile), err)
	}
	return t, t.engine()
}

// save writes down what the testnet is, at once or not at all.
func (t *Net) save() error {
	b, err := json.MarshalIndent(&t.state, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(t.dir, stateFile)
	if err := os.WriteFile(name+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// Name returns what the testnet is called, Kind how its nodes run.
func (t *Net) Name() string { return t.state.Name }

// Kind returns Containers or Processes.
func (t *Net) Kind() string { return t.state.Kind }

// Isolation returns the level at which tasks are kept from where nodes run; empty if it is not known.
func (t *Net) Isolation() string { return t.state.Isolation.Level }

// Nodes returns the nodes, in the order of the spec.
func (t *Net) Nodes() []Node { return t.state.Nodes }

// Node returns a node by its name.
func (t *Net) Node(name string) (*Node, error) {
	for i := range t.state.Nodes {
		if n := &t.state.Nodes[i]; n.Name == name {
			return n, nil
		}
	}
	all := t.state.Nodes
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no node %.40q: testnet %s has none", name, t.Name())
	}
	return nil, fmt.Errorf("there is no node %.40q: want one of %s to %s, see skep testnet status", name, all[0].Name,
		all[len(all)-1].Name)
}

// home is a node's folder: its log, and its data folder.
func (t *Net) home(n *Node) string { return filepath.Join(t.dir, "nodes", n.Name) }

// Folder returns a node's data folder.
func (t *Net) Folder(n *Node) string { return filepath.Join(t.home(n), dataName) }

// Log returns the file that a node writes its log to.
func (t *Net) Log(n *Node) string { return filepath.Join(t.home(n), logName) }

// What is in a node's folder.
const (
	dataName = "data"
	logName  = "log"
)

// Client returns a client of a node.
func (t *Net) Client(n *Node) (*client.Client, error) { return client.Open(t.Folder(n)) }
