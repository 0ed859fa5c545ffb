package p2p

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/internal/rig"
)

// openReal opens a member with the real node.
func openReal(t testing.TB, dir string, join ...string) *member {
	return openMember(t, dir, func(c *Config) { c.newNode = nil }, join...)
}

// view returns a job as its node sees it.
func (m *member) view(id grid.JobID) (v node.JobView) {
	m.t.Helper()
	if err := m.Read(context.Background(), func(n *node.Node, _ grid.Time) { v, _ = n.Job(id) }); err != nil {
		m.t.Fatal(err)
	}
	return v
}

// connected returns how many connected peers the node sees.
func (m *member) connected() (n int) {
	m.Read(context.Background(), func(nd *node.Node, at grid.Time) {
		for _, p := range nd.Peers(at, nil) {
			if p.Connected && !p.Self && p.Ad != nil {
				n++
			}
		}
	})
	return n
}

// openReal3 opens three members with real nodes that see each other.
func openReal3(t testing.TB) (a, b, c *member) {
	a = openReal(t, filepath.Join(t.TempDir(), "a"))
	b = openReal(t, filepath.Join(t.TempDir(), "b"), a.token())
	c = openReal(t, filepath.Join(t.TempDir(), "c"), a.token())
	for _, m := range []*member{a, b, c} {
		rig.Await(t, m.cfg.Name+" sees both others", func() bool { return m.connected() >= 2 })
	}
	return a, b, c
}

// timeJob submits a job of empty tasks and returns how long it takes.
func (m *member) timeJob(nonce byte, tasks int) time.Duration {
	m.t.Helper()
	spec := rig.Sh("")
	spec.Command, spec.Count = []string{"true"}, uint32(tasks)
	id := m.job(nonce)
	ch, stop := m.Watch(id)
	defer stop()
	start := time.Now()
	if err := m.Submit(context.Background(), id, spec); err != nil {
		m.t.Fatal(err)
	}
	for m.view(id).Ended < tasks {
		select {
		case <-ch:
		case <-time.After(rig.Timeout):
			m.t.Fatalf("in vain for %v: %d of %d tasks ended", rig.Timeout, m.view(id).Ended, tasks)
		}
	}
	if v := m.view(id); v.Failed != 0 || v.Exit != 0 {
		m.t.Errorf("job %+v: want no failures", v)
	}
	return time.Since(start)
}

func TestRealNodesShareAJob(t *testing.T) {
	t.Parallel()
	a, b, c := openReal3(t)
	const tasks = 300
	took := b.timeJob(1, tasks)
	where := map[grid.NodeID]int{}
	b.Read(t.Context(), func(n *node.Node, _ grid.Time) {
		for _, v := range n.Tasks(b.job(1), nil) {
			where[v.Worker]++
		}
	})
	t.Logf("%d tasks in %v, %.0f a second; here %d, elsewhere %d and %d", tasks, took, tasks/took.Seconds(),
		where[b.self], where[a.self], where[c.self])
}

// Regression: of a job that ends with its first failure no further task runs. The one that the end of the first gave a
// slot to was started, in the step that gave it up.
func TestNothingRunsOfAJobThatEndsWithAFailure(t *testing.T) {
	t.Parallel()
	m := openMember(t, filepath.Join(t.TempDir(), "a"), func(c *Config) { c.newNode, c.CPUs = nil, grid.CPU })
	dir := sharedFolder(t)
	spec := rig.Sh("touch " + dir + "/$SKEP_INDEX; exit 1")
	spec.Count, spec.Needs.CPU, spec.Rules.MaxFailures = 5, grid.CPU, 1
	if err := m.Submit(t.Context(), m.job(1), spec); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "the job ends", func() bool { return m.view(m.job(1)).Ended == 5 })
	next := rig.Sh("true")
	next.Needs.CPU = grid.CPU
	if err := m.Submit(t.Context(), m.job(2), next); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "the next job ends", func() bool { return m.view(m.job(2)).Ended == 1 })
	if ran, err := os.ReadDir(dir); len(ran) != 1 {
		t.Errorf("tasks %v ran, %v: want the first", ran, err)
	}
}

// BenchmarkTasks compares empty tasks, through a grid of three on this machine, with a bare loop of fork, exec and
// wait in the same run.
func BenchmarkTasks(b *testing.B) {
	_, m, _ := openReal3(b)
	const tasks = 2000
	var grids, bare time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		for range tasks / 4 {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		}
		bare += 4 * time.Since(start)
		grids += m.timeJob(byte(i), tasks)
	}
	b.ReportMetric(float64(b.N)*tasks/grids.Seconds(), "tasks/s")
	b.ReportMetric(bare.Seconds()/grids.Seconds(), "of-bare")
}
