package main

import (
	"strconv"
	"testing"
	"time"
)

// benchSigned measures what it costs that each end is signed: the processor time of three nodes and of all that they
// have started for 2,000 × true, of jobs that are signed and of jobs that are not, in turn.
func benchSigned(b *testing.B, skep string) {
	const tasks, rounds = 2000, 12
	grid := func(sign string) []*member {
		return startGrid(b, skep, 3, "--members", "1", "--isolation", "none", "--sign", sign)
	}
	signed, unsigned := grid("always"), grid("never")
	cost := func(nodes []*member, round int) float64 {
		before := processorTime(b, nodes)
		nodes[round%len(nodes)].run(b, "", "run", "--count", strconv.Itoa(tasks), "--", "true")
		return float64(processorTime(b, nodes) - before)
	}
	var ratios []float64
	for round := range rounds + 1 {
		without := cost(unsigned, round)
		with := cost(signed, round)
		if round > 0 { // the first one warms up
			ratios = append(ratios, without/with)
		}
	}
	reportRatio(b, "CPU of 2,000 x true without signatures over with them", ratios, 0.85)
}

// processorTime is what nodes and all that they have started have spent.
func processorTime(b *testing.B, nodes []*member) (sum time.Duration) {
	for _, m := range nodes {
		for _, pid := range descendants(m.cmd.Process.Pid) {
			sum += cpuTime(b, pid, 11, 12, 13, 14) // utime, stime, cutime, cstime
		}
	}
	return sum
}
