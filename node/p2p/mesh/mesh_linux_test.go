//go:build amd64 || arm64

package mesh

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"skep/exec/process"
	"skep/node/p2p/internal/rig"
)

// Four ranks on three nodes, two of them in one pod, meet over ports that the kernel gives, by names and addresses.
func TestFullMeshOfAThirdPartyProgram(t *testing.T) {
	r, at := boxes(t), sites(t, 3)
	g := newGang(t, r, 1, at[0], at[1], at[1], at[2])
	for rank, out := range g.run("mesh") {
		if out != "met 3\n" {
			t.Errorf("rank %d says %q", rank, out)
		}
	}
	for i, m := range g.members {
		if c := m.Counts(); c.Sent == 0 || c.Received == 0 || c.Full+c.Forged+c.Invalid+c.Refused != 0 || c.Streams != 2 {
			t.Errorf("node %d counts %+v", i, c)
		}
	}
}

// A stream arrives whole and its halves close one by one.
func TestStreamArrivesWhole(t *testing.T) {
	size := int64(1 << 30)
	if testing.Short() {
		size = 64 << 20
	}
	r, at := boxes(t), sites(t, 2)
	g := newGang(t, r, 1, at[0], at[1])
	if out := g.run(fmt.Sprint("stream ", size)); !strings.HasPrefix(out[1], "same ") {
		t.Errorf("the ranks say %q", out)
	}
	for i, m := range g.members {
		t.Logf("node %d: %+v", i, m.Counts())
	}
}

// A thousand connections are open at a time.
func TestThousandConnections(t *testing.T) {
	r, at := boxes(t), sites(t, 2)
	g := newGang(t, r, 1, at[0], at[1])
	if out := g.run("many 1000"); out[1] != "echoed 1000\n" {
		t.Errorf("the ranks say %q", out)
	}
}

// A stream between ranks outlives the connections of the nodes.
func TestStreamOutlivesConnections(t *testing.T) {
	r, at := boxes(t), sites(t, 2)
	g := newGang(t, r, 1, at[0], at[1])
	cut := make(chan struct{})
	go func() {
		defer close(cut)
		for i := range 3 {
			before := g.members[1].Counts()
			rig.Await(t, "packets flow", func() bool { return g.members[1].Counts().Sent > before.Sent+200 })
			for _, c := range at[i%2].host.Network().Conns() {
				c.Close()
			}
		}
	}()
	if out := g.run(fmt.Sprint("stream ", 192<<20)); !strings.HasPrefix(out[1], "same ") {
		t.Errorf("the ranks say %q", out)
	}
	<-cut
	if c := g.members[1].Counts(); c.Streams < 4 {
		t.Errorf("%+v: want that the stream was opened again three times", c)
	}
}

// From a rank neither the machine nor another attempt on it can be reached, though addresses are the same.
func TestRankReachesRanksOnly(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	targets := []string{fmt.Sprint("127.0.0.1:", port), fmt.Sprint("rank1:", port), fmt.Sprint("10.83.0.9:", port)}
	if own, err := net.InterfaceAddrs(); err == nil {
		for _, a := range own {
			if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
				targets = append(targets, fmt.Sprint(ip.IP, ":", port))
			}
		}
	}
	r, at := boxes(t), sites(t, 2)
	newGang(t, r, 1, at[0], at[1])
	g := newGang(t, r, 2, at[0], at[1])
	p, dir := g.start(0, "reach "+strings.Join(targets, " "))
	p.Wait()
	out, _ := os.ReadFile(process.Output(dir, process.Stdout))
	if strings.Contains(string(out), "true") || strings.Count(string(out), "false") != len(targets) {
		t.Errorf("%s", out)
	}
}
