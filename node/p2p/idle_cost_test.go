package p2p

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"skep/internal/cputime"
)

// TestIdleCost measures the CPU time of idle nodes. It is skipped unless asked for, since it takes time and a quiet
// machine: SKEP_IDLE=30s go test -run TestIdleCost -v ./node/p2p
func TestIdleCost(t *testing.T) {
	span, err := time.ParseDuration(os.Getenv("SKEP_IDLE"))
	if err != nil {
		t.Skip("SKEP_IDLE is not set to a duration")
	}
	const n = 5
	var all []*member
	var join []string
	for i := range n {
		m := openMember(t, filepath.Join(t.TempDir(), fmt.Sprint(i)), nil, join...)
		join = append(join, m.token())
		all = append(all, m)
	}
	waitUp(t, all...)
	time.Sleep(5 * time.Second) // skip the libraries' probes at the start
	before := cputime.Used()
	time.Sleep(span)
	share := (cputime.Used() - before).Seconds() / span.Seconds() / n
	t.Logf("%d nodes at rest take %.3f %% of a core each", n, 100*share)
	if share > 0.0015 {
		t.Errorf("more than 0.15 %% of a core each")
	}
}
