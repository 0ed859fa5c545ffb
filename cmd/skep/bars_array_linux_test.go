package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "skep/node/api/v1"
)

// benchArray compares an array of 10,000 short tasks that uses the rules, a matrix, max_running and retries of
// failures, with the same tasks as a plain array, in turns. One task in twenty fails twice, so a tenth more is run.
// CPU time is that of the nodes, of their tasks, and of what makes the boxes; it comes first, since wall times of a
// busy machine say little.
func benchArray(b *testing.B, skep string) {
	const rounds = 3
	var seeds []string
	for i := range 500 {
		seeds = append(seeds, fmt.Sprint(i))
	}
	// the variables last named change fastest: failures are spread over the whole array
	script := `command: [sh, -c, 'case $part-$SKEP_ATTEMPT in 0-*.1|0-*.2) exit 75;; esac']` + "\n"
	ways := [...]string{
		script + "count: 10000\nenv: {part: x}\n",
		script + "matrix: {seed: [" + strings.Join(seeds, ", ") + "], part: [" + strings.Join(seeds[:20], ", ") + "]}\n" +
			"max_running: 100\non_failure: {retry: 2, codes: [75], backoff: 100ms}\n",
	}
	nodes := startGrid(b, skep, 3)
	spent := func() (sum time.Duration) {
		for _, m := range nodes {
			for _, pid := range descendants(m.cmd.Process.Pid) {
				sum += cpuTime(b, pid, 11, 12, 13, 14) // utime, stime, cutime, cstime
			}
		}
		return sum
	}
	nodes[0].run(b, "command: ['true']\ncount: 500\n", "job", "submit", "-") // warms up
	nodes[0].run(b, "", "job", "wait", "last")
	var cpu, wall [len(ways)][]float64
	for range rounds {
		for i, job := range ways {
			before, began := spent(), time.Now()
			id := strings.TrimSpace(nodes[0].run(b, job, "job", "submit", "-"))
			nodes[0].run(b, "", "job", "wait", id)
			wall[i] = append(wall[i], time.Since(began).Seconds())
			cpu[i] = append(cpu[i], (spent() - before).Seconds())
			var j v1.Job
			if err := json.Unmarshal([]byte(nodes[0].run(b, "", "job", "describe", id, "--output", "json")), &j); err != nil {
				b.Fatal(err)
			}
			// an offer that was refused counts as an attempt, so a few fail once only
			if i == 1 && (j.Retried < 950 || j.Retried > 1000) || j.Ended != 10_000 || j.Exit != 0 {
				b.Fatalf("%d ended, exit %d, %d failures retried: want 950 to 1000", j.Ended, j.Exit, j.Retried)
			}
		}
	}
	for _, x := range []struct {
		what string
		of   [len(ways)][]float64
	}{{"CPU", cpu}, {"wall", wall}} {
		fmt.Printf("     10,000 tasks, %s in s: plain %.1f, with rules %.1f\n", x.what, x.of[0], x.of[1])
		var ratios []float64
		for i := range rounds {
			ratios = append(ratios, x.of[1][i]/x.of[0][i])
		}
		slices.Sort(ratios)
		report(b, "10,000 tasks, matrix, max_running, 5 % fail twice: "+x.what, ratios[rounds/2], "x", "<= 1.15",
			ratios[rounds/2] <= 1.15)
	}
}
