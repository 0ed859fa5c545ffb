package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// benchRestart kills a node with 10,000 finished and 1,000 pending tasks in its store, and one with an empty store,
// and restarts them, in turns.
func benchRestart(b *testing.B, skep string) {
	const finished, pending, each, times = 10_000, 1_000, 100, 9
	full, empty := startMember(b, skep, ""), startMember(b, skep, "")
	var jobs []string
	for range finished / each {
		jobs = append(jobs, strings.TrimSpace(full.run(b, fmt.Sprintf("command: [echo, '${SKEP_INDEX}']\ncount: %d\n", each),
			"job", "submit", "-")))
	}
	for _, id := range jobs {
		full.run(b, "", "job", "wait", id)
	}
	for range pending / each {
		full.run(b, fmt.Sprintf("command: ['true']\ncount: %d\nwait: true\nneeds: {labels: {none: has}}\n", each), "job",
			"submit", "-")
	}
	var took [2][]time.Duration
	for range times {
		for i, m := range []*member{full, empty} {
			m.kill()
			t := time.Now()
			m.start(b)
			took[i] = append(took[i], time.Since(t))
		}
	}
	was, is := median(took[1]), median(took[0])
	fmt.Printf("     READY after %.0f ms with 11,000 tasks, %.0f ms with none\n", is, was)
	report(b, "restart with 10,000 ended, 1,000 pending tasks over an empty node", is/was, "", "<= 3", is/was <= 3)
}
