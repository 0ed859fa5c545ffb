package discovery_test

import (
	"fmt"
	"strings"
	"testing"

	"skep/discovery"
	"skep/grid"
	"skep/requirement"
)

func expression(tb testing.TB, text string, use requirement.Use) *requirement.Expression {
	tb.Helper()
	x, err := requirement.Parse(text, use)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return x
}

func described() *grid.Ad {
	return &grid.Ad{Node: grid.NodeID{1}, Name: "anthill", Capacity: grid.Resources{CPU: 8 * grid.CPU,
		Memory: 96 * grid.GiB, Counts: "gpu=2"}, Free: grid.Resources{CPU: 2 * grid.CPU, Memory: grid.GiB},
		Speed: 1.5, Availability: 0.9, Engines: []string{grid.EngineProcess},
		Labels: []grid.Label{{Key: "os", Value: "linux"}, {Key: "zone", Value: "b"}}}
}

func TestEachAttributeOfANodeIsItsAds(t *testing.T) {
	ad := described()
	for text, want := range map[string]bool{
		"node.name == 'anthill' && node.id == '" + ad.Node.String() + "'": true,
		"node.cpu == 8 && node.memory == 96":                              true,
		"node.speed == 1.5":                                               true,
		"'process' in node.engines && node.labels.os == 'linux'":          true,
		"node.resources.gpu == 2 && node.resources.fpga == 0":             true,
		"node.cpu > 8":             false,
		"node.labels.rack == 'x'":  false, // not known, so it is not met
		"node.labels.rack != 'x'":  false,
		"!defined(node.labels.os)": false,
	} {
		needs := grid.Needs{Where: expression(t, text, requirement.Where)}
		if why := discovery.Fit(&needs, grid.EngineProcess, ad); (why == grid.WhyNone) != want {
			t.Errorf("%s: %v", text, why)
		}
	}
	needs := grid.Needs{Where: expression(t, "node.memory > 128 && node.labels.rack == 'x'", requirement.Where)}
	r := discovery.Match(&needs, grid.EngineProcess, ad)
	want := "node.memory > 128 && node.labels.rack == 'x': node.memory is 96, node.labels.rack is not known"
	if r.Why != grid.WhyUnmet || r.Detail != want || !r.Why.Never() {
		t.Errorf("%v %s, want %s", r.Why, r.Detail, want)
	}
}

func TestRankMayAskForWhatChanges(t *testing.T) {
	spec := &grid.JobSpec{}
	if _, some := discovery.Rank(spec, described()); some {
		t.Error("a job without a rank ranks a node")
	}
	spec.Rules.Rank = expression(t,
		"node.free_cpu * 10 + node.free_memory - node.backlog - node.price + node.availability", requirement.Rank)
	if got, ok := discovery.Rank(spec, described()); !ok || got != 21.9 {
		t.Errorf("%v, %v: want 21.9", got, ok)
	}
}

func TestNodesAcceptJobs(t *testing.T) {
	spec := func(user string) *grid.JobSpec {
		s := &grid.JobSpec{Name: "sweep", Class: "c", Count: 3, Engine: grid.EngineProcess, Retries: 2,
			Submitter: grid.Submitter{Node: grid.NodeID{9}, User: user}}
		s.Needs.CPU, s.Needs.Memory, s.Needs.Counts = 2*grid.CPU, grid.GiB, "gpu=1"
		return s
	}
	for _, c := range []struct {
		text, user string
		night      grid.Why // on a Saturday at 22
		unknown    grid.Why // while the hour is not known
	}{
		{"job.submitter != 'guest'", "ann", grid.WhyNone, grid.WhyNone},
		{"job.submitter != 'guest'", "guest", grid.WhyAccept, grid.WhyAccept},
		{"job.submitter != 'guest'", "", grid.WhyAccept, grid.WhyAccept}, // what is not known speaks against a job
		{"time.hour >= 18 || job.cpu <= 1", "ann", grid.WhyNone, grid.WhyHour},
		{"time.hour < 18 || job.cpu <= 2", "ann", grid.WhyNone, grid.WhyNone},
		{"time.hour < 18 && job.cpu <= 2", "ann", grid.WhyHour, grid.WhyHour},
		{"time.hour < 18 && job.cpu <= 1", "ann", grid.WhyAccept, grid.WhyAccept},
		{"time.weekday in ['sat', 'sun']", "ann", grid.WhyNone, grid.WhyHour},
		{"time.weekday == 'mon'", "ann", grid.WhyHour, grid.WhyHour},
		{"job.memory < node.memory / 2", "ann", grid.WhyNone, grid.WhyNone},
		{"job.name == 'sweep' && job.class == 'c' && job.count == 3 && job.retries == 2", "ann", grid.WhyNone, grid.WhyNone},
		{"job.priority == 1", "ann", grid.WhyNone, grid.WhyNone},
		{"job.resources.gpu == 1 && job.resources.fpga == 0", "ann", grid.WhyNone, grid.WhyNone},
		{"job.ranks == 0", "ann", grid.WhyNone, grid.WhyNone},
		{"job.timeout < 60", "ann", grid.WhyAccept, grid.WhyAccept},
		{"job.node startsWith '" + (grid.NodeID{9}).String()[:6] + "'", "ann", grid.WhyNone, grid.WhyNone},
	} {
		ad := described()
		ad.Accept = expression(t, c.text, requirement.Accept)
		s := spec(c.user)
		for _, h := range []struct {
			hour requirement.Hour
			want grid.Why
		}{{requirement.Hour{Known: true, OfDay: 22, Day: 6}, c.night}, {requirement.Hour{}, c.unknown}} {
			ad.Hour = h.hour
			if why := discovery.Suits(s, ad); why != h.want || discovery.Explain(s, ad).Why != h.want {
				t.Errorf("%s of %q, hour %+v: %v, want %v", c.text, c.user, h.hour, why, h.want)
			}
		}
	}
	if discovery.Suits(spec(""), described()) != grid.WhyNone {
		t.Error("a node that requires nothing does not accept a job")
	}
	ad := described()
	ad.Accept = expression(t, "job.submitter != 'guest'", requirement.Accept)
	if r := discovery.Explain(spec("guest"), ad); !strings.Contains(r.Detail, `job.submitter is "guest"`) {
		t.Errorf("%q does not say who was refused", r.Detail)
	}
}

func TestMatchingAnExpressionAllocatesNothing(t *testing.T) {
	ad, spec := described(), &grid.JobSpec{Engine: grid.EngineProcess, Submitter: grid.Submitter{User: "ann"}}
	spec.Needs.Where = expression(t, "node.memory > 64.0 && node.labels.os == 'linux'", requirement.Where)
	ad.Accept = expression(t, "job.submitter != 'guest' || time.hour > 18", requirement.Accept)
	if n := testing.AllocsPerRun(100, func() { discovery.Suits(spec, ad) }); n > 0 {
		t.Errorf("%v allocations for an ad", n)
	}
}

// BenchmarkMatch matches 1,000 ads against two labels, and against an expression that asks for the same.
func BenchmarkMatch(b *testing.B) {
	ads := make([]*grid.Ad, 1000)
	for i := range ads {
		ads[i] = described()
		ads[i].Labels = []grid.Label{{Key: "os", Value: "linux"}, {Key: "zone", Value: fmt.Sprint(i % 4)}}
	}
	for _, c := range []struct {
		name  string
		needs grid.Needs
	}{
		{"labels", grid.Needs{Labels: []grid.LabelNeed{{Key: "os", Values: []string{"linux"}},
			{Key: "zone", Values: []string{"1", "2"}}}}},
		{"where", grid.Needs{Where: expression(b, "node.labels.os == 'linux' && node.labels.zone in ['1', '2']",
			requirement.Where)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fit := 0
				for _, ad := range ads {
					if discovery.Fit(&c.needs, grid.EngineProcess, ad) == grid.WhyNone {
						fit++
					}
				}
				if fit != 500 {
					b.Fatalf("%d fit, want 500", fit)
				}
			}
		})
	}
}
