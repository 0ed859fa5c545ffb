package testnet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"skep/node/api/v1"
)

// noticeLimit is within what time the neighbours of a node that stops silently are to notice.
const noticeLimit = 10 * time.Second

// TestSilentNodeIsNoticed pauses one of some idle nodes again and again, and measures the time until all its neighbours
// have given it up; before, it keeps the machine busy for a minute, in which none may be given up. It is skipped unless
// asked for:
// SKEP_SILENT="30 10" go test -run TestSilentNodeIsNoticed -timeout 1h -v ./testnet
// starts 30 nodes and pauses 10 of them, one after the other.
func TestSilentNodeIsNoticed(t *testing.T) {
	var nodes, pauses int
	if k, _ := fmt.Sscan(os.Getenv("SKEP_SILENT"), &nodes, &pauses); k != 2 || pauses > nodes {
		t.Skip("SKEP_SILENT is not set to a number of nodes and of pauses")
	}
	ctx := context.WithoutCancel(t.Context())
	n, _ := startAtOnce(t, buildSkep(t), nodes)
	if err := n.Meet(ctx); err != nil {
		t.Fatal(err)
	}
	keepBusy(t, 2*nodes, time.Minute)
	if gone := n.givenUp(t); gone > 0 {
		t.Errorf("with the machine busy, %d connections were taken for dead", gone)
	}
	time.Sleep(20 * time.Second) // the nodes are idle
	for i := range pauses {
		p := &n.state.Nodes[i]
		before := n.neighboursOf(t, p)
		if err := n.Pause(ctx, p); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for left := before; len(left) > 0; time.Sleep(200 * time.Millisecond) {
			left = n.neighboursOf(t, p)
			if time.Since(began) > time.Minute {
				t.Errorf("%s: %d neighbours have not noticed after a minute", p.Name, len(left))
				break
			}
		}
		d := time.Since(began)
		t.Logf("%s: its %d neighbours noticed within %.1f s", p.Name, len(before), d.Seconds())
		if d > noticeLimit {
			t.Errorf("%s was noticed after %v: want at most %v", p.Name, d, noticeLimit)
		}
		if err := n.Resume(ctx, p); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
	}
}

// keepBusy lets programs that do nothing but count run for a while.
func keepBusy(t *testing.T, programs int, span time.Duration) {
	t.Helper()
	for range programs {
		c := exec.Command("sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { c.Process.Kill(); c.Wait() }()
	}
	time.Sleep(span)
}

// givenUp counts the connections that all nodes have taken for dead.
func (t *Net) givenUp(test *testing.T) (n int) {
	test.Helper()
	for i := range t.state.Nodes {
		log, err := os.ReadFile(t.Log(&t.state.Nodes[i]))
		if err != nil {
			test.Fatal(err)
		}
		n += strings.Count(string(log), "peer is silent")
	}
	return n
}

// neighboursOf returns the nodes that count p as a connected neighbour.
func (t *Net) neighboursOf(test *testing.T, p *Node) (names []string) {
	test.Helper()
	for i := range t.state.Nodes {
		n := &t.state.Nodes[i]
		if n == p {
			continue
		}
		c, err := t.Client(n)
		if err != nil {
			test.Fatal(err)
		}
		l, err := c.Nodes(test.Context())
		c.Close()
		if err != nil {
			test.Fatal(err)
		}
		for _, q := range l.Nodes {
			if q.ID == p.ID && q.Neighbour && q.State == v1.NodeConnected {
				names = append(names, n.Name)
			}
		}
	}
	return names
}
