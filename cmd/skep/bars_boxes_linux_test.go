package main

import (
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/sim/queueing"
)

// benchBoxes compares a node's throughput with and without boxes, in turns: the same 2,000 tasks on one node with
// boxes, with boxes that have no network, and with --isolation none.
func benchBoxes(b *testing.B, skep string) {
	const tasks, rounds = 2000, 10
	boxed, bare := startMember(b, skep, "", "--members", "1"), startMember(b, skep, "", "--members", "1", "--isolation",
		"none")
	if !strings.Contains(boxed.log.String(), "tasks are isolated") {
		b.Skip("no boxes here")
	}
	ways := []struct {
		node    *member
		network grid.Network
	}{{bare, grid.NetworkHost}, {boxed, grid.NetworkHost}, {boxed, grid.NetworkNone}}
	cost := func(m *member, network grid.Network) (cpu, wall float64) {
		before, t := treeTime(b, m.cmd.Process.Pid), time.Now()
		file := fmt.Sprintf("command: ['true']\ncount: %d\nnetwork: %v\n", tasks, network)
		id := strings.TrimSpace(m.run(b, file, "job", "submit", "-"))
		if err := exec.Command(m.skep, "--data-dir", m.dir, "job", "wait", id).Run(); err != nil {
			lines := slices.Collect(strings.Lines(m.run(b, "", "job", "describe", id)))
			lines = slices.DeleteFunc(lines, func(s string) bool { return strings.HasSuffix(strings.TrimSpace(s), " 0") })
			b.Fatalf("job wait: %v\n%s%s", err, strings.Join(lines, ""), m.log)
		}
		return (treeTime(b, m.cmd.Process.Pid) - before).Seconds(), time.Since(t).Seconds()
	}
	var cpu, wall [3][]float64
	for round := range rounds + 1 {
		var c, w [3]float64
		for i, way := range ways {
			c[i], w[i] = cost(way.node, way.network)
		}
		for i := range ways {
			if round > 0 { // the first one warms up
				cpu[i], wall[i] = append(cpu[i], c[0]/c[i]), append(wall[i], w[0]/w[i])
			}
		}
	}
	for i, wanted := range []float64{1: 0.6, 2: 0.4} {
		if i > 0 {
			reportRatio(b, fmt.Sprintf("2,000 x true, boxed over unboxed, network %v, CPU", ways[i].network), cpu[i], wanted)
			reportRatio(b, fmt.Sprintf("2,000 x true, boxed over unboxed, network %v, wall", ways[i].network), wall[i], wanted)
		}
	}
}

// reportRatio prints a mean with its 95 % interval; it passes if the lower end does.
func reportRatio(b *testing.B, what string, xs []float64, wanted float64) {
	b.Helper()
	mean, half := interval(xs)
	report(b, what, mean, fmt.Sprintf("±%.3f", half), fmt.Sprintf(">= %.2f", wanted), mean-half >= wanted)
}

// interval is a mean with half of its 95 % interval.
func interval(xs []float64) (mean, half float64) {
	n, squares := float64(len(xs)), 0.0
	for _, x := range xs {
		mean += x / n
	}
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	return mean, queueing.Student(n-1) * math.Sqrt(squares/(n-1)/n)
}

// treeTime returns the CPU time of a process and of all below it, those included that have ended.
func treeTime(tb testing.TB, pid int) (sum time.Duration) {
	for _, p := range descendants(pid) {
		sum += cpuTime(tb, p, 11, 12, 13, 14) // utime, stime, cutime, cstime
	}
	return sum
}
