package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"skep/node/api/client"
	"skep/node/api/v1"
	"skep/sim"
	"skep/sim/net"
)

// trial is a scenario that ran once on real nodes, with a process for each. Its tasks are in the order of arrival.
type trial struct {
	tasks    []sim.Submission
	sizes    []float64
	done     []v1.Task
	took     []float64          // seconds from the submission to the recorded end
	group    map[string]string  // of a node, by its ID
	messages map[string]float64 // that all nodes have sent meanwhile, by kind
}

// runTrial starts the nodes of a scenario, with further arguments, and submits the tasks of a seed when they arrive,
// each as the job that job makes of it.
func runTrial(t *testing.T, skep string, s *net.Scenario, seed uint64, args []string,
	job func(tr *trial, k int) *v1.Spec) *trial {
	t.Helper()
	var ms []*member
	join := ""
	for _, g := range s.Groups {
		args := append([]string{"--name", g.Name, "--cpus", fmt.Sprint(g.Cores)}, args...)
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
	tr := &trial{tasks: s.Arrivals(seed), sizes: s.Sizes(seed), group: map[string]string{}}
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
		nodes[i], tr.group[self.ID] = c, s.Groups[i].Name
	}
	tr.done, tr.took = make([]v1.Task, len(tr.tasks)), make([]float64, len(tr.tasks))
	before := messages(t, nodes)
	began := time.Now()
	var wg sync.WaitGroup
	for k := range tr.tasks {
		spec := job(tr, k)
		time.Sleep(time.Until(began.Add(tr.tasks[k].At - s.Start)))
		wg.Go(func() { tr.took[k], tr.done[k] = runOne(ctx, t, nodes[tr.tasks[k].Node], spec) })
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	tr.messages = messages(t, nodes)
	for kind := range tr.messages {
		tr.messages[kind] -= before[kind]
	}
	return tr
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
