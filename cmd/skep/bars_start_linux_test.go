package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// bareExec is the reference for the start of a client: what any static Go program costs.
const bareExec = "package main\n\nfunc main() {}\n"

// buildBareExec builds the reference.
func buildBareExec(b *testing.B) string {
	dir := b.TempDir()
	source, bin := filepath.Join(dir, "main.go"), filepath.Join(dir, "bare")
	if err := os.WriteFile(source, []byte(bareExec), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", bin, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// turn is a command line that a bench runs in turns with others.
type turn struct {
	line      []string
	cpu, wall []time.Duration
}

// inTurns runs each command once in each round; the first round warms up.
func inTurns(b *testing.B, rounds int, commands ...*turn) {
	b.Helper()
	for round := range rounds + 1 {
		for _, c := range commands {
			cmd := exec.Command(c.line[0], c.line[1:]...)
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %v\n%s", c.line, err, out)
			}
			wall := time.Since(began)
			if round > 0 {
				c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
				c.wall = append(c.wall, wall)
			}
		}
	}
}

// benchVersion measures what a client costs before it does anything.
func benchVersion(b *testing.B, skep string) {
	const bar = 2.5
	bare, version := &turn{line: []string{buildBareExec(b)}}, &turn{line: []string{skep, "version"}}
	inTurns(b, 60, bare, version)
	cpu, wall := median(version.cpu)-median(bare.cpu), median(version.wall)-median(bare.wall)
	report(b, "skep version over a bare exec, CPU, median", cpu, "ms", "<= 2.5", cpu <= bar)
	report(b, "skep version over a bare exec, wall, median", wall, "ms", "<= 2.5", wall <= bar)
}

// benchLatency measures a task that runs on another node.
func benchLatency(b *testing.B, skep string) {
	const bar = 3
	a := startMember(b, skep, "", "--label", "side=a", "--isolation", "none")
	startMember(b, skep, a.join, "--label", "side=b", "--isolation", "none")
	a.run(b, "", "run", "--label", "side=b", "--", "true") // b is known from here on
	version := &turn{line: []string{skep, "version"}}
	moved := &turn{line: []string{skep, "--data-dir", a.dir, "run", "--label", "side=b", "--", "true"}}
	inTurns(b, 60, version, moved)
	over := median(moved.wall) - median(version.wall)
	report(b, "skep run -- true on another node minus skep version, median", over, "ms", "<= 3", over <= bar)
}
