package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkBars measures the whole product as a user sees it, each figure against a reference in the same run, and
// prints a table.
func BenchmarkBars(b *testing.B) {
	skep := buildSkep(b)
	b.Run("version", func(b *testing.B) { benchVersion(b, skep) })
	b.Run("throughput", func(b *testing.B) { benchThroughput(b, skep) })
	b.Run("cost", func(b *testing.B) { benchCost(b, skep) })
	b.Run("signed", func(b *testing.B) { benchSigned(b, skep) })
	b.Run("sleep", func(b *testing.B) { benchSleep(b, skep) })
	b.Run("boxes", func(b *testing.B) { benchBoxes(b, skep) })
	b.Run("latency", func(b *testing.B) { benchLatency(b, skep) })
	b.Run("restart", func(b *testing.B) { benchRestart(b, skep) })
	b.Run("members", func(b *testing.B) { benchMembers(b, skep) })
	b.Run("conserve", func(b *testing.B) { benchConserve(b, skep) })
	b.Run("array", func(b *testing.B) { benchArray(b, skep) })
	b.Run("gossip", benchGossip)
	b.Run("stdin", func(b *testing.B) { benchStdin(b, skep) })
	b.Run("gang", func(b *testing.B) { benchGang(b, skep) })
	b.Run("data", func(b *testing.B) { benchData(b, skep) })
	b.Run("idle", func(b *testing.B) { benchIdle(b, skep) })
}

func report(b *testing.B, what string, got float64, unit, bar string, pass bool) {
	verdict := "pass"
	if !pass {
		verdict = "MISS"
	}
	fmt.Printf("bar: %-58s %10.3f %-6s bar %-9s %s\n", what, got, unit, bar, verdict)
}

func median(ds []time.Duration) float64 {
	slices.Sort(ds)
	return float64(ds[len(ds)/2]) / float64(time.Millisecond)
}

func timed(n int, f func()) []time.Duration {
	f()
	ds := make([]time.Duration, n)
	for i := range ds {
		t := time.Now()
		f()
		ds[i] = time.Since(t)
	}
	return ds
}

func benchThroughput(b *testing.B, skep string) {
	const tasks = 2000
	t := time.Now()
	for range tasks {
		if err := exec.Command("true").Run(); err != nil {
			b.Fatal(err)
		}
	}
	bare := tasks / time.Since(t).Seconds()
	ms := startGrid(b, skep, 3)
	t = time.Now()
	id := strings.TrimSpace(ms[0].run(b, fmt.Sprintf("command: ['true']\ncount: %d\n", tasks), "job", "submit", "-"))
	ms[0].run(b, "", "job", "wait", id)
	rate := tasks / time.Since(t).Seconds()
	fmt.Printf("     bare loop %.0f tasks/s, 3 nodes %.0f tasks/s\n", bare, rate)
	report(b, "2,000 x true through 3 nodes over a bare loop", rate/bare, "", ">= 0.30", rate/bare >= 0.30)
}

// benchMembers compares jobs with three members with jobs whose only member is their origin, in turns.
func benchMembers(b *testing.B, skep string) {
	const tasks = 2000
	one, three := startGrid(b, skep, 3, "--members", "1"), startGrid(b, skep, 3, "--members", "3")
	var rate, alone []float64
	var kept, single []time.Duration
	many := func(m *member) float64 {
		t := time.Now()
		id := strings.TrimSpace(m.run(b, fmt.Sprintf("command: ['true']\ncount: %d\n", tasks), "job", "submit", "-"))
		m.run(b, "", "job", "wait", id)
		return tasks / time.Since(t).Seconds()
	}
	for range 3 {
		alone, rate = append(alone, many(one[0])), append(rate, many(three[0]))
	}
	for range 60 {
		single = append(single, timed(1, func() { one[0].run(b, "", "run", "--", "true") })...)
		kept = append(kept, timed(1, func() { three[0].run(b, "", "run", "--", "true") })...)
	}
	slices.Sort(alone)
	slices.Sort(rate)
	report(b, "2,000 x true, members 3 over 1, tasks/s, medians of 3", rate[1]/alone[1], "", ">= 0.60",
		rate[1]/alone[1] >= 0.60)
	report(b, "skep run -- true, members 3 minus 1, median", median(kept)-median(single), "ms", "reported", true)
	fmt.Printf("     members 1 %.0f tasks/s and %.1f ms, members 3 %.0f tasks/s and %.1f ms\n", alone[1], median(single),
		rate[1], median(kept))
}

func benchIdle(b *testing.B, skep string) {
	ms := startGrid(b, skep, 5)
	time.Sleep(20 * time.Second)
	const span = 30 * time.Second
	before := make([]time.Duration, len(ms))
	for i, m := range ms {
		before[i] = threadTime(b, m.cmd.Process.Pid)
	}
	time.Sleep(span)
	worst, rss := 0.0, 0.0
	for i, m := range ms {
		worst = max(worst, 100*float64(threadTime(b, m.cmd.Process.Pid)-before[i])/float64(span))
		rss = max(rss, residentMiB(b, m.cmd.Process.Pid))
	}
	report(b, "node at rest in a grid of 5, CPU of a core, the worst of them", worst, "%", "<= 0.15", worst <= 0.15)
	report(b, "its resident memory, the largest of them", rss, "MiB", "reported", true)
}

// threadTime returns the CPU time of all threads of a process, from the scheduler's nanosecond counts.
func threadTime(tb testing.TB, pid int) time.Duration {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	total := time.Duration(0)
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil {
			ns, _ := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
			total += time.Duration(ns)
		}
	}
	if total == 0 {
		tb.Skip("this machine does not tell the CPU time of threads")
	}
	return total
}

func residentMiB(tb testing.TB, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		tb.Fatal(err)
	}
	pages, _ := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	return pages * float64(os.Getpagesize()) / (1 << 20)
}
