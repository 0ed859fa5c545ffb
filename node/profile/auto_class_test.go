package profile

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// two is what two nodes tell, one of each class, with tasks of a second.
func two(small, large float64) []StatedLoad {
	r := []grid.Rate{{Class: "large", Alpha: large / 2, Mu: 1}, {Class: "small", Alpha: small / 2, Mu: 1}}
	return []StatedLoad{{Class: "small", Rates: r, Trusted: 1}, {Class: "large", Rates: r, Trusted: 1}}
}

func autoNode(t *testing.T) *node {
	n := newNode(t, grid.Label{Key: LabelClass, Value: ClassAuto}, grid.Label{Key: LabelCluster, Value: "x"},
		grid.Label{Key: "os", Value: "linux"})
	n.load.Rates = nil
	return n
}

// choose has the node look at the claims and returns its class.
func (n *node) choose(others []StatedLoad) string {
	n.ChooseClass(n.now, n.load.Rates, others)
	return n.Site().Class
}

func TestOnlyClassAutoChooses(t *testing.T) {
	if n := newNode(t, grid.Label{Key: LabelClass, Value: "small"}); n.ChoosesClass() || n.Site().Class != "small" {
		t.Error("a node with a class chooses another")
	}
	n := autoNode(t)
	if !n.ChoosesClass() || n.Site().Class != "" || n.Site().Cluster != "x" {
		t.Errorf("before it has chosen its site is %+v, want every class, and its cluster", n.Site())
	}
}

func TestClassOfTheGreatestLoadIsChosen(t *testing.T) {
	n := autoNode(t)
	if c := n.choose(two(0.2, 0.9)); c != "large" {
		t.Fatalf("chose %q, want large", c)
	}
	keys := []string{}
	for _, l := range n.Describe(n.load).Labels {
		keys = append(keys, l.Key)
	}
	if want := []string{LabelClass, LabelCluster, "os"}; !slices.Equal(keys, want) {
		t.Errorf("labels %v, want %v in order", keys, want)
	}
	n.now = n.now.Add(4 * time.Minute)
	if c := n.choose(two(1.9, 0.2)); c != "large" {
		t.Errorf("serves %q after four minutes, want five with a class", c)
	}
}

func TestArrivalsThatAreNotTrustedDoNotCount(t *testing.T) {
	claims := two(0.2, 0)
	claims[1].Rates, claims[1].Trusted = []grid.Rate{{Class: "large", Alpha: 1000, Mu: 1}}, 0
	if c := autoNode(t).choose(claims); c != "small" {
		t.Errorf("chose %q, want small: nothing of the other's load is believed", c)
	}
}

// What nobody has run takes the run time assumed beforehand; the rates of all classes that an ad does not name apart
// are no class.
func TestClassesNobodyHasRun(t *testing.T) {
	n := autoNode(t)
	n.load.Rates = []grid.Rate{{Class: "new", Alpha: 1}, {Class: grid.OtherClass, Alpha: 100, Mu: 1}}
	if c := n.choose([]StatedLoad{{Rates: []grid.Rate{{Class: "quick", Alpha: 5, Mu: 10}}, Trusted: 1}}); c != "new" {
		t.Errorf("chose %q, want new: one second of work each second, the other half of one", c)
	}
}
