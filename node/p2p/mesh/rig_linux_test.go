//go:build amd64 || arm64

package mesh

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skep/exec/network"
	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
)

// boxes runs programs in boxes; the test is skipped where there are no strict ones with a TUN device.
func boxes(t testing.TB) *runner {
	t.Helper()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	r, err := process.New(process.Options{Sandbox: sandbox.Options{Level: grid.IsolationBasic, Work: work,
		Dir: filepath.Join(dir, "box"), Hidden: []string{dir}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if level, findings := r.Isolation(); level < grid.IsolationStrict {
		t.Skip("not strict here: ", sandbox.Explain(findings))
	}
	p, _, giveBack, err := r.NewPod(0)
	if err == nil {
		err = network.Probe(p)
		giveBack(false)
	}
	if err != nil {
		t.Skip("no virtual network here: ", err)
	}
	return &runner{r, work}
}

// runner runs programs in boxes.
type runner struct {
	*process.Runner
	work string // the folder of attempts
}

// gang is an attempt that runs on sites.
type gang struct {
	t       testing.TB
	r       *runner
	layout  Layout
	members []*Member
	pods    []*sandbox.Pod
	as      []process.Account
	back    []func(bool)
	number  int
}

// newGang joins an attempt whose ranks are at these sites.
func newGang(t testing.TB, r *runner, attempt uint32, at ...*site) *gang {
	t.Helper()
	g := &gang{t: t, r: r, layout: Layout{ID: grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: attempt}}}}
	var distinct []*site
	for _, s := range at {
		g.layout.Nodes = append(g.layout.Nodes, s.id)
		if !slices.Contains(distinct, s) {
			distinct = append(distinct, s)
		}
	}
	for _, s := range distinct {
		pod, as, back, err := r.NewPod(0)
		if err != nil {
			t.Fatal(err)
		}
		d, err := network.Open(pod, g.layout.Local(s.id))
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.mesh.Join(g.layout, d)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close(); pod.Close() })
		g.members, g.pods, g.as = append(g.members, m), append(g.pods, pod), append(g.as, as)
		g.back = append(g.back, back)
	}
	return g
}

// at is the place of a rank's node in members and pods.
func (g *gang) at(rank int) int {
	return slices.IndexFunc(g.members, func(m *Member) bool { return m.mesh.cfg.Self == g.layout.Nodes[rank] })
}

// start starts a program of TestMain as a rank.
func (g *gang) start(rank int, program string) (p *process.Process, dir string) {
	g.t.Helper()
	g.number++
	dir = filepath.Join(g.r.work, fmt.Sprintf("a%d-%d-%d", g.layout.ID.N, rank, g.number))
	as := g.as[g.at(rank)]
	if err := g.r.Prepare(dir, as); err != nil {
		g.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		g.t.Fatal(err)
	}
	to := filepath.Join(process.Work(dir), "program")
	b, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err == nil && as.UID != 0 {
		err = os.Chown(to, int(as.UID), int(as.GID))
	}
	if err != nil {
		g.t.Fatal(err)
	}
	env := append(network.Env(g.layout.ID, len(g.layout.Nodes)), programVariable+"="+program,
		fmt.Sprint("RANK=", rank), fmt.Sprint("WORLD_SIZE=", len(g.layout.Nodes)))
	p, err = g.r.Start(process.Spec{Argv: []string{"./program"}, Dir: dir, Env: env, Timeout: 5 * time.Minute,
		MaxOpen: 4096, Reach: process.Reach{Pod: g.pods[g.at(rank)], Hosts: network.Hosts(len(g.layout.Nodes))}})
	if err != nil {
		g.t.Fatal(err)
	}
	return p, dir
}

// run runs a program as all ranks, and returns what they printed.
func (g *gang) run(program string) (out []string) {
	g.t.Helper()
	out, _ = g.measure(program)
	return out
}

// measure is run, and returns the processor time of all ranks too.
func (g *gang) measure(program string) (out []string, cpu time.Duration) {
	g.t.Helper()
	var all []*process.Process
	var dirs []string
	for r := range g.layout.Nodes {
		p, dir := g.start(r, program)
		all, dirs = append(all, p), append(dirs, dir)
	}
	for r, p := range all {
		result := p.Wait()
		b, _ := os.ReadFile(process.Output(dirs[r], process.Stdout))
		out, cpu = append(out, string(b)), cpu+result.CPU
		if result.Code() != 0 {
			g.t.Fatalf("rank %d of %s: %+v, %s", r, strings.Fields(program)[0], result, b)
		}
	}
	return out, cpu
}

// pingPong is the median of so many round trips of a byte.
func pingPong(c io.ReadWriter, count int) time.Duration {
	times, b := make([]time.Duration, count), []byte{1}
	for i := range times {
		began := time.Now()
		c.Write(b)
		io.ReadFull(c, b)
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	return times[count/2]
}
