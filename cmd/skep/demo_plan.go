package main

import "skep/grid"

// demoPlan defines the nodes. Shares are parts of a core.
func demoPlan() []*demoNode {
	return []*demoNode{
		{name: "ash", shares: []string{"primes=1", "*=0.25"}},
		{name: "birch", shares: []string{"matrix=1", "*=0.25"}, labels: []string{"accel=yes"}},
		{name: "cedar", shares: []string{"hash=1", "*=0.25"}},
		{name: "dogwood", shares: []string{"*=0.5"}, labels: []string{"accel=yes"}},
		{name: "elm", shares: []string{"*=0.2"}},
	}
}

// args returns the command line of a node. The common folder dir is hidden from tasks.
func (n *demoNode) args(dir string, level isolationLevel) []string {
	args := []string{"up", "--data-dir", n.dir, "--name", n.name, "--listen", "/ip4/127.0.0.1/tcp/0", "--no-mdns", "--cpus", "1",
		"--log-level", "warn", "--hide", dir}
	if level.none {
		args = append(args, "--isolation", grid.IsolationNone.String())
	}
	for _, s := range n.shares {
		args = append(args, "--share", s)
	}
	for _, l := range n.labels {
		args = append(args, "--label", l)
	}
	return args
}
