package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// benchCost measures what a task costs beyond its own processes: 2,000 × true through three nodes, without boxes and
// with them, beside loops that do no more than fork, execute and wait, and that make the same namespaces and mounts, in
// turn. Registers have one member: what more of them cost is another bar.
func benchCost(b *testing.B, skep string) {
	const tasks, rounds = 2000, 8
	loop := buildLoop(b)
	ways := []struct {
		name  string
		nodes []*member
		loop  func() (wall, system float64) // microseconds a task
	}{
		{"unboxed", startGrid(b, skep, 3, "--members", "1", "--isolation", "none"), func() (float64, float64) {
			wall := execLoop(b, tasks)
			_, system := loop(b, tasks)
			return wall, system
		}},
		{"boxed", startGrid(b, skep, 3, "--members", "1"), func() (float64, float64) {
			work := filepath.Join(b.TempDir(), "work")
			root := filepath.Join(b.TempDir(), "root")
			for _, dir := range []string{work, root} {
				if err := os.Mkdir(dir, 0o755); err != nil {
					b.Fatal(err)
				}
			}
			return loop(b, tasks, root, work)
		}},
	}
	if !strings.Contains(ways[1].nodes[0].log.String(), "tasks are isolated") {
		ways = ways[:1]
	}
	rates, more := make([][]float64, len(ways)), make([][]float64, len(ways))
	for round := range rounds + 1 {
		for i, way := range ways {
			wall, system := way.loop()
			before, t := systemTime(b, way.nodes), time.Now()
			way.nodes[round%3].run(b, "", "run", "--count", strconv.Itoa(tasks), "--", "true")
			took := time.Since(t)
			spent := systemTime(b, way.nodes) - before
			if round > 0 { // the first one warms up
				rates[i] = append(rates[i], wall*tasks/float64(took.Microseconds()))
				more[i] = append(more[i], (float64(spent.Microseconds())/tasks-system)/1000)
			}
		}
	}
	for i, way := range ways {
		reportRatio(b, "2,000 x true through 3 nodes over a minimal loop, "+way.name, rates[i], 0.75)
		mean, half := interval(more[i])
		report(b, "system time a task beyond that loop, "+way.name, mean, fmt.Sprintf("ms±%.2f", half), "<= 0.25",
			mean+half <= 0.25)
	}
}

// execLoop is the wall time of a task, in microseconds, that is executed and waited for.
func execLoop(b *testing.B, tasks int) float64 {
	t := time.Now()
	for range tasks {
		if err := exec.Command("true").Run(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(time.Since(t).Microseconds()) / float64(tasks)
}

// buildLoop compiles the reference, and skips where there is no C compiler: a Go program would bring a runtime along.
func buildLoop(b *testing.B) func(b *testing.B, tasks int, args ...string) (wall, system float64) {
	program := filepath.Join(b.TempDir(), "box_loop")
	if out, err := exec.Command("cc", "-O2", "-o", program, "testdata/bench/box_loop.c").CombinedOutput(); err != nil {
		b.Skipf("no C compiler here: %v\n%s", err, out)
	}
	return func(b *testing.B, tasks int, args ...string) (wall, system float64) {
		b.Helper()
		out, err := exec.Command(program, append([]string{strconv.Itoa(tasks)}, args...)...).Output()
		var all float64
		if err == nil {
			_, err = fmt.Sscan(string(out), &wall, &all, &system)
		}
		if err != nil {
			b.Fatalf("the minimal loop: %v", err)
		}
		return wall, system
	}
}

// systemTime is what nodes and all that they have started have spent in the kernel.
func systemTime(b *testing.B, nodes []*member) (sum time.Duration) {
	for _, m := range nodes {
		for _, pid := range descendants(m.cmd.Process.Pid) {
			sum += cpuTime(b, pid, 12, 14) // stime, cstime
		}
	}
	return sum
}

// descendants are a process and all below it.
func descendants(pid int) []int {
	all := []int{pid}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range files {
		text, _ := os.ReadFile(name)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, descendants(child)...)
			}
		}
	}
	return all
}

// cpuTime adds fields of what the kernel tells of a process, counted from its state on, that are times.
func cpuTime(tb testing.TB, pid int, fields ...int) time.Duration {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err) // without it the bar would be too easy
	}
	words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	ticks := 0
	for _, i := range fields {
		n, err := strconv.Atoi(words[i])
		if err != nil {
			tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}
