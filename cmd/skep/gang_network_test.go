package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"skep/exec/network"
	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
)

// gangNetwork is why ranks of gangs can have no network of their own in these tests; nil = they can.
var gangNetwork = sync.OnceValue(func() error { return tryPod(network.Probe) })

// gangPorts is why they can have no ports; nil = they can.
var gangPorts = sync.OnceValue(func() error { return tryPod(network.ProbePorts) })

func tryPod(probe func(*sandbox.Pod) error) error {
	if isolation() < grid.IsolationStrict {
		return fmt.Errorf("isolation is %v", isolation())
	}
	dir, err := os.MkdirTemp("", "skep-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := process.New(process.Options{Sandbox: sandbox.Options{Level: grid.IsolationStrict, Hidden: []string{dir},
		Work: filepath.Join(dir, "work"), Dir: filepath.Join(dir, "box")}})
	if err != nil {
		return err
	}
	defer r.Close()
	pod, _, giveBack, err := r.NewPod(0)
	if err != nil {
		return err
	}
	defer giveBack(false)
	return probe(pod)
}

// condition of scripts: [gangnet] where ranks of gangs can have a network of their own, [gangports] where they can have
// ports.
func condition(name string) (bool, error) {
	probe := map[string]func() error{"gangnet": gangNetwork, "gangports": gangPorts}[name]
	if probe == nil {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	err := probe()
	if err != nil {
		fmt.Fprintf(os.Stderr, "[%s] does not hold in these tests: %v\n", name, err)
	}
	return err == nil, nil
}

// build builds a Go program, that of a folder of the script or of this repository: build NAME FOLDER.
func build(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: build NAME FOLDER")
	}
	dir := ts.MkAbs(args[1])
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		dir = filepath.Join("../..", args[1])
	}
	cmd := exec.Command("go", "build", "-o", ts.MkAbs(args[0]), ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("go build %s: %v\n%s", args[1], err, out)
	}
}
