package node

import (
	"skep/grid"
)

// Node is one member of the grid: the whole protocol, pure.
type Node struct {
	cfg  Config
	wall grid.Wall
}

// New makes a node. Records of a former run follow by Restore, then EvStart.
func New(cfg Config, wall grid.Wall) (*Node, error) { return &Node{cfg: cfg, wall: wall}, nil }

// Restore takes back a record that a former run saved. All of them come before EvStart, in any order.
func (n *Node) Restore(r *grid.Record) {}

// Step feeds one event to the node and appends what it wants done to fx. It never blocks, and the same
// state, time and event always give the same state and effects.
func (n *Node) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {}

// Jobs appends the jobs submitted here, oldest first.
func (n *Node) Jobs(dst []JobView) []JobView { return dst }

// Job returns a job submitted here.
func (n *Node) Job(id grid.JobID) (JobView, bool) { return JobView{}, false }

// Tasks appends the tasks of a job submitted here, by index.
func (n *Node) Tasks(id grid.JobID, dst []TaskView) []TaskView { return dst }

// Task returns one of them.
func (n *Node) Task(id grid.TaskID) (TaskView, bool) { return TaskView{}, false }

// Peers appends this node and those it knows, ordered by identity.
func (n *Node) Peers(now grid.Time, dst []PeerView) []PeerView { return dst }

// Stats returns counts and gauges.
func (n *Node) Stats(now grid.Time) Stats { return Stats{} }
