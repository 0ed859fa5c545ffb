package child

import (
	"errors"
	"strings"
	"testing"

	"skep/exec/process"
	"skep/grid"
	v1 "skep/node/api/v1"
)

func machine(id, state string, cores float64, level string) v1.Node {
	return v1.Node{ID: id, State: state, Cores: cores, FreeCores: cores / 2, Memory: int64(cores) << 30,
		Labels: map[string]string{"os": "linux", "arch": "amd64"}, Isolated: v1.Isolated{Isolation: level}}
}

// Only nodes count that a task of the parent could go to, and the lowest level of these is what the child keeps.
func TestWhatAGridHas(t *testing.T) {
	labels := map[string]string{"os": "linux", "arch": "amd64"}
	big := func(id string) v1.Node { return machine(id, v1.NodeConnected, 64, "none") }
	other, private, shut, gateway := big("o"), big("p"), big("s"), big("g")
	other.Labels["arch"], private.Private, shut.Refuses = "arm64", true, "draining"
	gateway.Labels["engine"] = EngineName
	nodes := []v1.Node{machine("a", v1.NodeSelf, 2, "strict"), machine("b", v1.NodeConnected, 4, "basic"), other, private,
		shut, gateway, machine("k", v1.NodeKnown, 64, "none")}
	var g Grid
	for i := range nodes {
		g.add(&nodes[i], labels)
	}
	if g.Nodes != 2 || g.Cores != 6 || g.Free != 3 || g.Memory != 6<<30 || g.Largest.Cores != 4 ||
		g.Isolation != grid.IsolationBasic {
		t.Errorf("%+v: want the nodes a and b", g)
	}
}

// A task must fit one node of the child, and must not come back to a grid that it came from, nor go on for ever.
func TestWhatIsRefused(t *testing.T) {
	g := &Grid{Network: "child"}
	g.Largest.Cores, g.Largest.Memory = 4, 8<<30
	e := &Engine{o: Options{Parent: "parent"}}
	e.grid.Store(g)
	job := func(cores grid.MilliCPU, memory grid.Bytes, outer ...string) *grid.JobSpec {
		s := &grid.JobSpec{TaskData: grid.TaskData{Outer: outer}}
		s.Needs.CPU, s.Needs.Memory = cores*grid.CPU, memory
		return s
	}
	for _, c := range []struct {
		job  *grid.JobSpec
		want string
	}{
		{job(4, 8*grid.GiB), ""}, {job(5, 0), "on one node"}, {job(1, 9*grid.GiB), "on one node"},
		{job(1, 0, "other"), ""}, {job(1, 0, "other", "child"), "a loop"},
		{job(1, 0, "1", "2", "3", "4", "5", "6", "7", "8"), "at most 8"},
	} {
		err := e.mayRun(c.job)
		var no *process.ExecError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &no) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, %v: %v: want %q", c.job.Needs.Resources, c.job.Outer, err, c.want)
		}
	}
	if err := g.checkLoop("child"); err == nil || g.checkLoop("parent") != nil {
		t.Error("want that a child which is the parent itself is refused, and no other")
	}
}

// An end in the child is one here; what a person there has ended, or a node of it has lost, is lost.
func TestHowResultsAreTaken(t *testing.T) {
	for _, c := range []struct {
		of    v1.Result
		cause process.Cause
		code  int
	}{
		{v1.Result{Cause: "exited", Exit: 3}, process.Exited, 3},
		{v1.Result{Cause: "signaled", Exit: 137}, process.Signaled, 137},
		{v1.Result{Cause: "timed_out", Exit: 124}, process.TimedOut, 124},
		{v1.Result{Cause: "memory_exceeded", Exit: 137}, process.MemoryExceeded, 137},
		{v1.Result{Cause: "not_found", Exit: 127}, process.NotFound, 127},
		{v1.Result{Cause: "cannot_execute", Exit: 126}, process.CannotExecute, 126},
		{v1.Result{Cause: "unplaceable", Exit: 121}, process.CannotExecute, 126},
		{v1.Result{Cause: "cancelled", Exit: 130}, process.Broken, 125},
		{v1.Result{Cause: "lost", Exit: 125}, process.Broken, 125},
		{v1.Result{Cause: "of a later version"}, process.Broken, 125},
	} {
		if r := resultOf(&c.of); r.Cause != c.cause || r.Code() != c.code {
			t.Errorf("%s: %v, code %d: want %v, %d", c.of.Cause, r.Cause, r.Code(), c.cause, c.code)
		}
	}
}
