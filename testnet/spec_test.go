package testnet

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestEverythingWrongWithASpecIsSaid(t *testing.T) {
	s := Spec{
		Groups: []Group{{Name: "n", Count: 12}, {Name: "n1", Count: 3}, {Name: "B", Count: 1}, {Name: "n", Count: 0},
			{Name: "c", Count: 1, CPUs: -1, Memory: -1, Labels: map[string]string{"": "x"}}},
		Links: []Link{{Of: "far", Shape: Shape{Latency: time.Minute, Loss: 1, Rate: 3}}, {Of: "c"}, {Of: "c"}},
	}
	var at []string
	for _, p := range s.Check() {
		at = append(at, p.Where)
	}
	want := []string{"groups.1.name", "groups.2.name", "groups.3.name", "groups.3.count", "groups.4.cpus",
		"groups.4.memory", "groups.4.labels",
		"links.0.of", "links.0.latency", "links.0.loss", "links.0.rate", "links.2.of"}
	if !slices.Equal(at, want) {
		t.Errorf("problems at\n%v\nwant\n%v", at, want)
	}
}

func TestSizesOfASpec(t *testing.T) {
	for n, good := range map[int]bool{0: false, 1: true, MaxNodes: true, MaxNodes + 1: false} {
		s := Plain(n)
		if got := len(s.Check()) == 0; got != good {
			t.Errorf("%d nodes: good %v", n, got)
		}
	}
	two := Spec{Groups: []Group{{Name: "a", Count: MaxNodes}, {Name: "b", Count: 1}}}
	if p := two.Check(); len(p) != 1 || p[0].Where != "groups" {
		t.Errorf("too many nodes in two groups: %v", p)
	}
	if p := (&Spec{}).Check(); len(p) != 1 {
		t.Errorf("no nodes: %v", p)
	}
}

func TestWhoIsAcrossACut(t *testing.T) {
	s := Plain(5)
	n := &Net{state: state{Nodes: s.nodes(), Cut: [][]string{{"n1", "n2"}, {"n3"}, {"n4"}}}}
	want := map[string]string{"n1": "[n3 n4]", "n2": "[n3 n4]", "n3": "[n1 n2 n4]", "n4": "[n1 n2 n3]", "n5": "[]"}
	for name, others := range want {
		node, err := n.Node(name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range n.across(node) {
			got = append(got, o.Name)
		}
		if fmt.Sprint(got) != others {
			t.Errorf("%s does not hear %v: want %s", name, got, others)
		}
	}
}
