package discovery

import (
	"strings"
	"testing"

	"skep/grid"
)

func adOf(n grid.NodeID) *grid.Ad {
	return &grid.Ad{Node: n, Seq: grid.Seq{Boot: 1}, Capacity: grid.Resources{CPU: 4000, Memory: 2 * grid.GiB}, Speed: 1,
		Availability: 1,
		Labels:       []grid.Label{{Key: "arch", Value: "amd64"}, {Key: "os", Value: "linux"}}, Engines: []string{"process"}}
}

func need(cpu grid.MilliCPU, mem grid.Bytes, labels ...grid.LabelNeed) *grid.Needs {
	return &grid.Needs{Resources: grid.Resources{CPU: cpu, Memory: mem}, Labels: labels}
}

func label(key string, values ...string) grid.LabelNeed {
	return grid.LabelNeed{Key: key, Values: values}
}

func gpus(c grid.Counts) *grid.Needs {
	n := need(1000, 0)
	n.Counts = c
	return n
}

func TestMatch(t *testing.T) {
	ad := adOf(id(1))
	ad.Capacity.Counts, ad.Free.Counts = "gpu=2", ""
	for _, c := range []struct {
		n      *grid.Needs
		engine string
		want   grid.Refusal
	}{
		{need(4000, 2*grid.GiB), "process", grid.Refusal{}},
		{need(1, 0, label("os", "darwin", "linux"), label("arch", "amd64")), "process", grid.Refusal{}},
		{need(4001, 0), "process", grid.Refusal{Why: grid.WhyCPU, Detail: "needs 4.001 cpu, it has 4"}},
		{need(1000, 3*grid.GiB), "process", grid.Refusal{Why: grid.WhyMemory, Detail: "needs 3 GiB, it has 2 GiB"}},
		{need(1000, 0, label("zone", "a")), "process",
			grid.Refusal{Why: grid.WhyLabel, Detail: "needs zone=a, it has no label zone"}},
		{need(1000, 0, label("arch", "amd64"), label("os", "plan9", "darwin")), "process",
			grid.Refusal{Why: grid.WhyLabel, Detail: "needs os=plan9 or darwin, it has os=linux"}},
		{need(1000, 0, label(grid.WorkdirNeed, "/scratch", "/scratch/a")), "process", grid.Refusal{Why: grid.WhyLabel,
			Detail: "needs a folder that is not exposed to work in: want skep up --expose /scratch/a:rw there, of root " +
				"with :as=USER:for=NAME, or one that it is in"}},
		{gpus("gpu=2"), "process", grid.Refusal{}},
		{gpus("fpga=1,gpu=1"), "process", grid.Refusal{Why: grid.WhyResource, Detail: "needs 1 fpga, it has none"}},
		{gpus("gpu=3"), "process", grid.Refusal{Why: grid.WhyResource, Detail: "needs 3 gpu, it has 2"}},
		{need(1000, 0), "wasm", grid.Refusal{Why: grid.WhyEngine, Detail: "needs engine wasm, it has process"}},
	} {
		if got := Match(c.n, c.engine, ad); got != c.want {
			t.Errorf("%+v on %s: %+v, want %+v", c.n, c.engine, got, c.want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { Fit(need(1, 0), "process", ad) }); n > 0 {
		t.Errorf("Fit allocates %g times", n)
	}
}

// A node without the network that a gang wants says what it has in place of it.
func TestNetworksOfGangs(t *testing.T) {
	packets, ports := grid.FeatureNeed(grid.GangNetworkLabel), grid.FeatureNeed(grid.GangPortsLabel)
	for _, c := range []struct {
		needs grid.LabelNeed
		has   []grid.Label
		want  string // in the detail; "" = it fits
	}{
		{packets, []grid.Label{{Key: grid.GangNetworkLabel, Value: "1"}}, ""},
		{ports, []grid.Label{{Key: grid.GangPortsLabel, Value: "1"}}, ""},
		{packets, nil, "no network for ranks: want isolation strict and /dev/net/tun there"},
		{packets, []grid.Label{{Key: grid.GangPortsLabel, Value: "1"}}, "or a job that names its ports (gang.ports)"},
		{ports, []grid.Label{{Key: grid.GangNetworkLabel, Value: "1"}}, "it can give ranks no ports: want isolation strict"},
	} {
		ad := adOf(id(1))
		ad.Labels = append(ad.Labels, c.has...)
		r := Match(need(1000, 0, c.needs), "process", ad)
		if fits := r.Why == grid.WhyNone; fits != (c.want == "") || !strings.Contains(r.Detail, c.want) {
			t.Errorf("needs %v, has %v: %+v, want %q", c.needs, c.has, r, c.want)
		}
	}
}

func TestFullNodeStillMatches(t *testing.T) {
	ad := adOf(id(1))
	ad.Free = grid.Resources{}
	if r := Match(need(1000, 0), "process", ad); r.Why != grid.WhyNone {
		t.Errorf("a busy node is refused: %v", r.Why)
	}
	if r := Now(need(1000, 0), ad); r.Why != grid.WhyNone {
		t.Errorf("a busy node takes nothing: %v", r.Why)
	}
	ad.Full = true
	if r := Now(need(1000, 0), ad); r.Why != grid.WhyDisk {
		t.Errorf("a node whose disk is nearly full: %v", r.Why)
	}
	ad.Full, ad.Away = false, true
	if r := Now(need(1000, 0), ad); r.Why != grid.WhyAway || !ad.Shut() {
		t.Errorf("a node that cannot reach what runs its tasks: %v", r.Why)
	}
	ad.Draining = true
	if r := Now(need(1000, 0), ad); r.Why != grid.WhyDrain {
		t.Errorf("a draining node: %v", r.Why)
	}
}

func TestCanonical(t *testing.T) {
	a := need(1000, 5, label("b", "y", "x"), label("a", "1"))
	b := need(1000, 5, label("a", "1"), label("b", "x", "y", "x"))
	if canonical(a, "process") != canonical(b, "process") {
		t.Error("needs that mean the same have two keys")
	}
	for _, c := range []*grid.Needs{need(1001, 5), need(1000, 6), need(1000, 5, label("a", "1")),
		need(1000, 5, label("ab", "1")), need(1000, 5, label("a", "b1"))} {
		for _, d := range []*grid.Needs{a, need(1000, 5), need(1000, 5, label("a", "b", "1"))} {
			if canonical(c, "process") == canonical(d, "process") && c != d && len(c.Labels) > 0 {
				t.Errorf("%+v and %+v have one key", c, d)
			}
		}
	}
	if alike(need(1000, 600), "process") != alike(need(900, 1000), "process") ||
		alike(need(1000, 600), "process") == alike(need(3000, 600), "process") {
		t.Error("alike does not go by powers of two")
	}
}
