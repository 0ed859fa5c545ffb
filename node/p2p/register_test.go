package p2p

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/internal/rig"
)

// openReplicated3 opens three members with real nodes that replicate their jobs among themselves.
func openReplicated3(t testing.TB, lease time.Duration) (a, b, c *member) {
	open := func(name string, join ...string) *member {
		return openMember(t, filepath.Join(t.TempDir(), name), func(c *Config) {
			c.newNode, c.Node = nil, node.Defaults()
			c.Node.Lease = lease
		}, join...)
	}
	a = open("a")
	b, c = open("b", a.token()), open("c", a.token())
	for _, m := range []*member{a, b, c} {
		rig.Await(t, m.cfg.Name+" sees both others", func() bool { return m.connected() >= 2 })
	}
	return a, b, c
}

// The origin of a job is cut off for good: another member takes over and ends the job, and both know the outcome.
func TestTakeoverAfterTheOriginIsGone(t *testing.T) {
	t.Parallel()
	a, b, c := openReplicated3(t, time.Second)
	id := a.job(1)
	gone := filepath.Join(sharedFolder(t), "gone") // most tasks end after that, however fast the machine is
	s := rig.Sh("[ $SKEP_INDEX -lt 6 ] || until [ -e " + gone + " ]; do sleep 0.05; done; echo ran")
	s.Count, s.Retries = 24, 2
	if err := a.Submit(context.Background(), id, s); err != nil {
		t.Fatal(err)
	}
	if v := a.view(id); len(v.Members) != 3 || v.Owner != a.self {
		t.Fatalf("kept by %d, owner %s: want three, and the origin", len(v.Members), v.Owner.Short())
	}
	rig.Await(t, "some tasks to end", func() bool { return a.view(id).Ended > 2 })
	a.transport.Host().Close()
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*member{b, c} {
		rig.Await(t, "the job's end at "+m.cfg.Name, func() bool {
			v := m.view(id)
			return v.Ended == 24 && v.Owner != a.self
		})
		m.Read(context.Background(), func(n *node.Node, _ grid.Time) {
			for _, x := range n.Tasks(id, nil) {
				if x.Result == nil || x.Result.Exit != 0 || !strings.Contains(string(x.Result.Stdout.Inline), "ran") {
					t.Errorf("%s: task %d ended with %+v", m.cfg.Name, x.ID.Task.Index, x.Result)
				}
			}
		})
	}
}

func TestCancelIsKnownToAMajority(t *testing.T) {
	t.Parallel()
	a, b, _ := openReplicated3(t, 6*time.Second)
	id := a.job(1)
	s := rig.Sh("sleep 60")
	s.Count = 4
	if err := a.Submit(context.Background(), id, s); err != nil {
		t.Fatal(err)
	}
	if err := a.Cancel(context.Background(), id, nil); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "the guardian hears of the end", func() bool { v := b.view(id); return v.Cancelled && v.Ended == 4 })
}

// BenchmarkRegister compares empty tasks of jobs whose register has three members with those of jobs whose register
// has one.
func BenchmarkRegister(b *testing.B) {
	const tasks = 2000
	_, alone, _ := openReal3(b)
	_, kept, _ := openReplicated3(b, 6*time.Second)
	var one, three time.Duration
	for i := 0; b.Loop(); i++ {
		one += alone.timeJob(byte(i), tasks)
		three += kept.timeJob(byte(i), tasks)
	}
	b.ReportMetric(float64(b.N)*tasks/three.Seconds(), "tasks/s")
	b.ReportMetric(one.Seconds()/three.Seconds(), "of-one")
}
