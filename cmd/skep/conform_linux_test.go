package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"skep/grid"
	"skep/node/api/client"
	"skep/node/api/v1"
	"skep/sim/net"
)

// conformance is the scenario that the simulator and real nodes run.
const conformance = "testdata/conformance.yaml"

// The same scenario gives the same placements in the simulator and on real nodes: five processes over loopback whose
// tasks sleep for as long as the scenario's model says.
//
// The simulator's replications measure the variance: a figure's mean over the runs on real nodes must be within the
// prediction interval for so many more replications, at a level at which all figures together are with 99 %. Costs of
// a real machine that the model lacks are allowed: 25 ms for each task (its process starts in some milliseconds, not
// in one, and its end is reported over HTTP), and 0.03 for shares, since longer tasks wait longer.
//
// SKEP_CONFORMANCE is the number of runs on real nodes; each takes about 14 s.
func TestConformance(t *testing.T) {
	runs, _ := strconv.Atoi(os.Getenv("SKEP_CONFORMANCE"))
	if runs < 1 {
		t.Skip("SKEP_CONFORMANCE=N runs it, as make conformance does")
	}
	b, err := os.ReadFile(conformance)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := net.ParseScenario(conformance, b, os.ReadFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	model, err := net.Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := predicted(model)
	skep := buildSkep(t)
	got := map[string]float64{}
	for k := range runs {
		for name, v := range measureRealNodes(t, skep, s, s.Seed+uint64(s.Replications+k)) {
			got[name] += v / float64(runs)
		}
	}
	for _, w := range want {
		n := float64(s.Replications)
		student := distuv.StudentsT{Sigma: 1, Nu: n - 1}
		deviation := w.Half / student.Quantile(0.975) * math.Sqrt(n)
		chance := student.Quantile(1-0.005/float64(len(want))) * deviation * math.Sqrt(1/n+1/float64(runs))
		line := fmt.Sprintf("%-24s real %.3f, modelled %.3f, difference %+.3f of at most %.3f by chance and %.3f allowed",
			w.name, got[w.name], w.Mean, got[w.name]-w.Mean, chance, w.allowed)
		t.Log(line)
		if d := math.Abs(got[w.name] - w.Mean); !(d <= chance+w.allowed) {
			t.Error(line)
		}
	}
}

// figure is a compared quantity.
type figure struct {
	name string
	net.Estimate
	allowed float64
}

const (
	allowedTime  = 0.025 // seconds
	allowedShare = 0.03
	allowedPolls = 0.1 // messages
)

func predicted(r *net.Report) []figure {
	out := []figure{{"completion", r.Completion, allowedTime}, {"moved", r.Moved, allowedShare}}
	for _, c := range r.Classes {
		out = append(out, figure{"completion of " + c.Class, c.Completion, allowedTime},
			figure{"moved of " + c.Class, c.Moved, allowedShare})
	}
	for _, g := range r.Groups {
		out = append(out, figure{"ran at " + g.Group, g.Ran, allowedShare})
	}
	for _, k := range r.Messages {
		if k.Kind == "poll" || k.Kind == "offer" {
			out = append(out, figure{k.Kind + "s a task", k.PerTask, allowedPolls})
		}
	}
	return out
}

// measureRealNodes runs the scenario once with a process for each node, and measures what predicted reads from a
// report.
func measureRealNodes(t *testing.T, skep string, s *net.Scenario, seed uint64) map[string]float64 {
	t.Helper()
	var ms []*member
	join := ""
	for _, g := range s.Groups {
		args := []string{"--name", g.Name, "--cpus", fmt.Sprint(g.Cores)}
		for _, l := range g.Labels {
			args = append(args, "--label", l.Key+"="+l.Value)
		}
		ms = append(ms, startMember(t, skep, join, args...))
		join = ms[0].join
	}
	defer func() {
		for _, m := range ms {
			m.stop()
		}
	}()
	awaitMembers(t, ms)
	ctx := t.Context()
	nodes := make([]*client.Client, len(ms))
	name := map[string]string{}
	for i, m := range ms {
		c, err := client.Open(m.dir)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		self, err := c.Node(ctx, "self")
		if err != nil {
			t.Fatal(err)
		}
		nodes[i], name[self.ID] = c, s.Groups[i].Name
	}
	tasks := s.Arrivals(seed)
	done := make([]v1.Task, len(tasks))
	took := make([]float64, len(tasks))
	before := messages(t, nodes)
	sizes := grid.NewRand(seed, 1)
	began := time.Now()
	var wg sync.WaitGroup
	for k := range tasks {
		c := classOf(s, tasks[k].Spec.Class)
		spec := sleepJob(s, c, c.Size(sizes), name)
		time.Sleep(time.Until(began.Add(tasks[k].At - s.Start)))
		wg.Go(func() { took[k], done[k] = runOne(ctx, t, nodes[tasks[k].Node], spec) })
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	after := messages(t, nodes)
	out := map[string]float64{}
	n, of := float64(len(tasks)), map[string]float64{}
	for k := range tasks {
		of[tasks[k].Spec.Class]++
	}
	for k := range tasks {
		class, at := tasks[k].Spec.Class, name[done[k].Node]
		out["completion"] += took[k] / n
		out["completion of "+class] += took[k] / of[class]
		out["ran at "+at] += 1 / n
		if at != s.Groups[tasks[k].Node].Name {
			out["moved"] += 1 / n
			out["moved of "+class] += 1 / of[class]
		}
	}
	for _, kind := range []string{"poll", "offer"} {
		out[kind+"s a task"] = (after[kind] - before[kind]) / n
	}
	return out
}

func classOf(s *net.Scenario, name string) *net.Class {
	for i := range s.Classes {
		if s.Classes[i].Name == name {
			return &s.Classes[i]
		}
	}
	return nil
}

// sleepJob returns a job of one task that sleeps for as long as a task of that size takes on its worker.
func sleepJob(s *net.Scenario, c *net.Class, size float64, name map[string]string) *v1.Spec {
	var script strings.Builder
	script.WriteString("case $SKEP_NODE in ")
	for id, group := range name {
		for _, g := range s.Groups {
			if rate := g.Rates[c.Name]; g.Name == group && rate > 0 {
				fmt.Fprintf(&script, "%s) exec sleep %.6f;; ", id, size/rate)
			}
		}
	}
	script.WriteString("*) exit 9;; esac")
	spec := &v1.Spec{Class: c.Name, Command: []string{"sh", "-c", script.String()},
		Needs: v1.Needs{Cores: 1, Labels: map[string][]string{}}}
	for _, l := range c.Needs.Labels {
		spec.Needs.Labels[l.Key] = l.Values
	}
	return spec
}

// runOne runs a job of one task to its end, and returns its duration as recorded by its node.
func runOne(ctx context.Context, t *testing.T, n *client.Client, spec *v1.Spec) (seconds float64, task v1.Task) {
	j, err := n.Submit(ctx, client.Draw(), spec)
	for err == nil && !j.Over() {
		j, err = n.Wait(ctx, j.ID, time.Minute)
	}
	if err == nil {
		err = n.EachTask(ctx, j.ID, func(x *v1.Task) error { task = *x; return nil })
	}
	if err != nil || j.Exit != 0 || j.Done == nil {
		t.Errorf("a task of %s: exit %d, %v", spec.Class, j.Exit, err)
		return 0, task
	}
	return j.Done.Sub(j.Submitted).Seconds(), task
}

// messages returns how many messages of each kind all nodes have sent.
func messages(t *testing.T, nodes []*client.Client) map[string]float64 {
	sum := map[string]float64{}
	for _, n := range nodes {
		s, err := n.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for kind, c := range s.Sent {
			sum[kind] += float64(c)
		}
	}
	return sum
}
