package p2p

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// real opens a member with the real node inside.
func real(t testing.TB, dir string, join ...string) *member {
	return begin(t, dir, func(c *Config) { c.newNode = nil }, join...)
}

// view returns a job as its node sees it.
func (m *member) view(id grid.JobID) (v node.JobView) {
	m.t.Helper()
	if err := m.Read(context.Background(), func(n *node.Node, _ grid.Time) { v, _ = n.Job(id) }); err != nil {
		m.t.Fatal(err)
	}
	return v
}

// peers returns how many connected peers the node sees.
func (m *member) connected() (n int) {
	m.Read(context.Background(), func(nd *node.Node, at grid.Time) {
		for _, p := range nd.Peers(at, nil) {
			if p.Connected && p.Ad != nil {
				n++
			}
		}
	})
	return n
}

func TestRealNodesShareAJob(t *testing.T) {
	a := real(t, filepath.Join(t.TempDir(), "a"))
	b := real(t, filepath.Join(t.TempDir(), "b"), a.token())
	c := real(t, filepath.Join(t.TempDir(), "c"), a.token())
	for _, m := range []*member{a, b, c} {
		await(t, m.cfg.Name+" sees both others", func() bool { return m.connected() >= 2 })
	}
	const tasks = 300
	spec := sh("")
	spec.Command, spec.Count = []string{"true"}, tasks
	id := b.job(1)
	start := time.Now()
	if err := b.Submit(t.Context(), id, spec); err != nil {
		t.Fatal(err)
	}
	await(t, "all tasks end", func() bool { return b.view(id).Ended == tasks })
	took := time.Since(start)
	if v := b.view(id); v.Failed != 0 || v.Exit != 0 {
		t.Errorf("job %+v: want no failures", v)
	}
	where := map[grid.NodeID]int{}
	b.Read(t.Context(), func(n *node.Node, _ grid.Time) {
		for _, v := range n.Tasks(id, nil) {
			where[v.Worker]++
		}
	})
	t.Logf("%d tasks in %v, %.0f a second; here %d, elsewhere %d and %d", tasks, took, tasks/took.Seconds(),
		where[b.self], where[a.self], where[c.self])
	if d := b.Dropped(); len(d) > 0 {
		t.Logf("dropped %v", d)
	}
}
