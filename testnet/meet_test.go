package testnet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"skep/node/api/client"
	"skep/node/api/v1"
	"skep/node/p2p/wire"
)

// fullSet is the default number of neighbours.
const fullSet = 8

// TestAllKnowAll starts nodes at once, as processes, and measures the time until each knows all others and has a full
// neighbour set. It is skipped unless asked for, since it takes time and a quiet machine:
// SKEP_MEET="30 20" go test -run TestAllKnowAll -timeout 1h -v ./testnet
// starts 30 nodes 20 times. Each node is told the first node's address only, or with SKEP_MEET_TOKEN=all everybody's.
func TestAllKnowAll(t *testing.T) {
	var nodes, runs int
	if k, _ := fmt.Sscan(os.Getenv("SKEP_MEET"), &nodes, &runs); k != 2 {
		t.Skip("SKEP_MEET is not set to a number of nodes and of runs")
	}
	binary := buildSkep(t)
	limit := 5 * time.Second
	if nodes > 30 {
		limit = 10 * time.Second
	}
	missed := 0
	for run := range runs {
		m := measureMeeting(t, binary, nodes)
		t.Logf("run %d: %d nodes answer after %.1f s; all have full neighbour sets %.1f s and know all %.1f s after the "+
			"first start, %.1f s after the last answered",
			run+1, nodes, m.answer.Seconds(), m.full.Seconds(), m.all.Seconds(), (m.all - m.answer).Seconds())
		if m.all-m.answer > limit {
			missed++
		}
	}
	if missed > 0 {
		t.Errorf("%d of %d runs took longer than %v", missed, runs, limit)
	}
}

// meeting is what a start took, from the start of the first process.
type meeting struct{ answer, full, all time.Duration }

// buildSkep builds the program that nodes run.
func buildSkep(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "skep")
	if out, err := exec.Command("go", "build", "-o", binary, "skep/cmd/skep").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// startAtOnce starts nodes as processes until the test ends, and returns when it began to.
func startAtOnce(t *testing.T, binary string, count int) (n *Net, began time.Time) {
	t.Helper()
	n = &Net{dir: filepath.Join(t.TempDir(), "net"), state: state{Name: "meet", Kind: Processes, Spec: Plain(count)}}
	n.state.Nodes = n.state.Spec.nodes()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(n.engine())
	must(os.MkdirAll(n.dir, 0o700))
	must(copyFile(n.binary(), binary))
	ctx := context.WithoutCancel(t.Context())
	must(n.m.prepare(ctx))
	must(n.findLevel(ctx))
	must(n.found(meetSettings))
	if os.Getenv("SKEP_MEET_TOKEN") != "all" {
		must(n.nameFirstOnly())
	}
	t.Cleanup(func() { must(n.m.clear(ctx)) })
	began = time.Now()
	for i := range n.state.Nodes {
		must(n.m.start(ctx, &n.state.Nodes[i]))
	}
	return n, began
}

// measureMeeting starts nodes at once, waits until all know all, and ends them.
func measureMeeting(t *testing.T, binary string, count int) (m meeting) {
	t.Helper()
	n, began := startAtOnce(t, binary, count)
	ctx := context.WithoutCancel(t.Context())
	defer n.m.clear(ctx)
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range n.state.Nodes {
		all.Go(func() {
			k := n.watchMeeting(ctx, &n.state.Nodes[i], began)
			mu.Lock()
			defer mu.Unlock()
			m.answer, m.full, m.all = max(m.answer, k.answer), max(m.full, k.full), max(m.all, k.all)
			if k.all == meetLimit {
				t.Errorf("%s does not know all after %v", n.state.Nodes[i].Name, meetLimit)
			}
		})
	}
	all.Wait()
	return m
}

// nameFirstOnly replaces the token in the settings of all nodes by one that names the first node only.
func (t *Net) nameFirstOnly() error {
	token, err := wire.ParseToken(t.state.Token)
	if err != nil {
		return err
	}
	token.Addrs = token.Addrs[:1]
	t.state.Token = token.String()
	for i := range t.state.Nodes {
		if err := t.tell(&t.state.Nodes[i], meetSettings); err != nil {
			return err
		}
	}
	return nil
}

// meetSettings are settings of all nodes: for more than 64 of them on one machine, where they run as root.
var meetSettings = map[string]string{"task_uids": "2000000000-2000262143"}

const (
	meetLimit = 3 * time.Minute
	meetPoll  = 250 * time.Millisecond // more often, the questions would take the machine
)

// watchMeeting polls one node until it has a full neighbour set and knows all others.
func (t *Net) watchMeeting(ctx context.Context, n *Node, began time.Time) meeting {
	m := meeting{answer: meetLimit, full: meetLimit, all: meetLimit}
	var c *client.Client
	for ; time.Since(began) < meetLimit; time.Sleep(meetPoll) {
		if c == nil {
			var err error
			if c, err = t.Client(n); err != nil {
				c = nil
				continue
			}
			defer c.Close()
		}
		stats, err := c.Stats(ctx)
		if err != nil {
			continue
		}
		others := len(t.state.Nodes) - 1
		m.answer = min(m.answer, time.Since(began))
		if stats.Peers < min(fullSet, others) || m.full < meetLimit && stats.Peers < others {
			continue
		}
		l, err := c.Nodes(ctx)
		if err != nil {
			continue
		}
		now, neighbours := time.Since(began), 0
		for _, p := range l.Nodes {
			if p.Neighbour && p.State == v1.NodeConnected {
				neighbours++
			}
		}
		if neighbours >= min(fullSet, others) {
			m.full = min(m.full, now)
		}
		if len(l.Nodes) > others {
			m.all = min(m.all, now)
		}
		if m.full < meetLimit && m.all < meetLimit {
			break
		}
	}
	return m
}
