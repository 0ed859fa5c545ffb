package balance

import (
	"fmt"
	"strings"
	"testing"

	"skep/grid"
)

// clusters is a grid as [4] writes it: SS|SL|LL is two nodes in each of three clusters, S and L what they are kept for.
type clusters struct {
	nodes  []State
	sites  []*Site // of each node, with its class
	homes  []*Site // of each cluster
	closed bool
}

func newClusters(text string, closed bool) *clusters {
	c := &clusters{closed: closed}
	for i, part := range strings.Split(text, "|") {
		name := fmt.Sprint("c", i)
		c.homes = append(c.homes, &Site{Cluster: name})
		for _, class := range strings.Split(part, "") {
			site := &Site{Cluster: name, Class: class}
			c.sites = append(c.sites, site)
			if closed {
				site = &Site{Cluster: name, Closed: true}
			}
			c.nodes = append(c.nodes, State{Node: nodeID(len(c.nodes)), Site: site})
		}
	}
	return c
}

// place decides on a task that arrives at a cluster, and returns the node, −1 for none, and how many were asked.
func (c *clusters) place(p Policy, home int, class string) (node, asked int) {
	t := &grid.Task{Class: class, ID: grid.AttemptID{Attempt: grid.Attempt{N: uint32(home)}}}
	left := c.nodes
	for {
		v := View{Self: grid.NodeID{99}, Home: c.homes[home], Nodes: left}
		ids := p.Poll(0, t, v, nil)
		asked += len(ids)
		answers := v.Nodes
		if len(ids) > 0 {
			answers, left = nil, nil
			for k, s := range c.nodes {
				at := find(View{Nodes: v.Nodes}, s.Node)
				switch {
				case at < 0:
				case contains(ids, s.Node):
					s.Site = c.sites[k]
					answers = append(answers, s)
				default:
					left = append(left, s)
				}
			}
		}
		switch d := p.Choose(0, t, answers); d.Act {
		case Place:
			return int(d.Node[1]) - 1, asked
		case Wait:
			return -1, asked
		}
	}
}

func contains(ids []grid.NodeID, id grid.NodeID) bool {
	for _, x := range ids {
		if x == id {
			return true
		}
	}
	return false
}

// What each makes of the same requests, one after the other, where first in a cluster is the first of it. The
// second is the worked example of [4, section 4.3.2]: of three requests for L from cluster 0 the first starts at 1,
// which has none, and is served by 2; so is the second; the third by 3.
func TestClassBased(t *testing.T) {
	for _, c := range []struct {
		grid, policy, class string
		home                int
		want                string
		asked               int // where no class is known without a message
	}{
		{"S|S|L|L", "cb", "L", 0, "2 2 2 2", 12},
		{"S|S|L|L", "cb_rr", "L", 0, "2 2 3 2 2 3", 3 + 2 + 2 + 3 + 2 + 2},
		{"S|S|L|L", "cb_rr", "L", 1, "2 3 2 2 3 2", 2 + 2 + 3 + 2 + 2 + 3},
		{"S|S|L|L", "cb_rr:past", "L", 0, "2 3 2 3", 3 + 2 + 3 + 2},
		{"S|S|L|L", "cb_rr", "L", 2, "2 2 2", 3},
		{"S|S|L|L", "cb_frr", "L", 0, "2 2 2 3 2", 3 + 2 + 1 + 1 + 3},
		{"S|L|L", "cb", "S", 1, "0 0", 6},
		{"S|L|L", "cb_rr", "S", 1, "0 0", 3 + 2},
		{"SS|SL|LL", "cb_frr", "L", 0, "3 3 4 3 3 4", 2 * (4 + 2 + 2)},
		{"SS|SL|LL", "cb", "L", 0, "3 3", 8},
		{"SS|SL|LL", "cb_rr2", "L", 0, "3 4 5 3 4 5", 4 + 2 + 2 + 4 + 2 + 2},
		{"SSL|SSLL|S", "cb_rr2", "L", 2, "2 5 6 2 5 6", 0},
		{"S|S", "cb", "M", 0, "-1", 2},
		{"S|S", "cb_rr", "M", 0, "-1", 2},
		{"S|S", "cb_li", "M", 0, "-1", 2},
	} {
		for _, closed := range []bool{false, true} {
			p := mustMake(t, c.policy, Config{FirstTie: true}, 1)
			g := newClusters(c.grid, closed)
			var got []string
			asked := 0
			for range strings.Fields(c.want) {
				node, n := g.place(p, c.home, c.class)
				got, asked = append(got, fmt.Sprint(node)), asked+n
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s under %s, %s from cluster %d: nodes %s, want %s", c.grid, c.policy, c.class, c.home, s, c.want)
			}
			if closed && c.asked > 0 && asked != c.asked || !closed && asked != 0 && c.policy != "cb_li" {
				t.Errorf("%s under %s: asked %d nodes, want %d", c.grid, c.policy, asked, c.asked)
			}
		}
	}
}

// The unevenness of the pointer [4, section 4.3.2]: of all L jobs cluster 2 gets 7/12 and cluster 3 5/12, each
// cluster sending as many. Behind the one that served it is even.
func TestPointerShares(t *testing.T) {
	for name, want := range map[string][2]int{"cb_rr": {700, 500}, "cb_rr:past": {600, 600}} {
		g := newClusters("S|S|L|L", true)
		var got [2]int
		var policies []Policy
		for range g.homes {
			policies = append(policies, mustMake(t, name, Config{FirstTie: true}, 1))
		}
		for k := range 1200 {
			node, _ := g.place(policies[k%4], k%4, "L")
			got[node-2]++
		}
		if got != want {
			t.Errorf("%s: clusters 2 and 3 get %v of 1200, want %v", name, got, want)
		}
	}
}

// Each class has a pointer of its own, or requests of one disturb the turns of the other.
func TestPointerByClass(t *testing.T) {
	g := newClusters("M|SL|SL", false)
	p := mustMake(t, "cb_rr:class", Config{FirstTie: true}, 1)
	q := mustMake(t, "cb_rr", Config{FirstTie: true}, 1)
	of := map[Policy]map[int]int{p: {}, q: {}}
	for k := range 100 {
		for _, x := range []Policy{p, q} {
			node, _ := g.place(x, 0, []string{"S", "L"}[k%2])
			of[x][node]++
		}
	}
	for node := 1; node <= 4; node++ {
		if of[p][node] != 25 {
			t.Errorf("pointers by class: node %d gets %d of 100, want 25", node, of[p][node])
		}
	}
	if of[q][1] != 50 || of[q][4] != 50 {
		t.Errorf("one pointer: %v, want all S at node 1 and all L at node 4", of[q])
	}
}

// Without FirstTie the first to answer in a cluster may be any.
func TestAnyInCluster(t *testing.T) {
	g := newClusters("S|LLLL", false)
	p := mustMake(t, "cb", Config{}, 1)
	var n [5]int
	for range 400 {
		node, _ := g.place(p, 0, "L")
		n[node]++
	}
	for k, x := range n[1:] {
		if x < 70 || x > 130 {
			t.Errorf("node %d of the cluster gets %d of 400, want about 100", k+1, x)
		}
	}
}

// However many tasks are decided on at once, what is remembered of them is bounded.
func TestInquiriesAreBounded(t *testing.T) {
	g := newClusters("S|L|L", true)
	p := mustMake(t, "cb_rr", Config{}, 1).(*classBased)
	for k := range 1000 {
		id := grid.AttemptID{Attempt: grid.Attempt{N: uint32(k)}}
		p.Poll(0, &grid.Task{Class: "L", ID: id}, View{Home: g.homes[0], Nodes: g.nodes}, nil)
	}
	if len(p.open) > mostInquiries {
		t.Errorf("%d are remembered, want at most %d", len(p.open), mostInquiries)
	}
}
