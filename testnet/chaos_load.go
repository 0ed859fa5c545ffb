package testnet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// callTime bounds a call to a node, which may be dead, paused or on its own.
const callTime = 3 * time.Second

// load submits the jobs, evenly over most of the time of the faults, each to a random node. A submission that was not
// acknowledged is made anew, as another job at another node. Every tenth job is one more, to be cancelled.
func (x *chaos) load(ctx context.Context) error {
	r := rand.New(rand.NewPCG(x.c.Seed, 1))
	jobs := (x.c.Tasks + x.c.JobSize - 1) / x.c.JobSize
	gap := x.c.Duration * 8 / 10 / time.Duration(jobs)
	for left, i := x.c.Tasks, 0; left > 0; i++ {
		n := min(left, x.c.JobSize)
		if _, err := x.submit(ctx, r, n); err != nil {
			return err
		}
		left -= n
		if i%10 == 3 {
			id, err := x.submit(ctx, r, x.c.JobSize)
			if err != nil {
				return err
			}
			wait := time.Duration(500+r.IntN(2500)) * time.Millisecond
			x.work.Go(func() { x.cancelLater(ctx, id, wait) })
		}
		if err := pause(ctx, gap); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// submit submits a job to some node that takes it.
func (x *chaos) submit(ctx context.Context, r *rand.Rand, count int) (id string, err error) {
	retries := int32(200) // no task may end because its nodes were killed too often
	spec := &v1.Spec{Name: "chaos", Class: "chaos", Command: []string{"sh", "-c", taskScript(x.log, x.c.Deaths > 0)},
		Count: uint32(count), Retries: &retries, Wait: true}
	spec.Needs.Cores = 1
	once := x.c.Deaths > 0 && x.outlives(spec, r)
	for {
		n := &x.t.state.Nodes[r.IntN(len(x.t.state.Nodes))]
		if x.isGone(n.Name) {
			continue
		}
		var j v1.Job
		err = x.call(ctx, n, func(ctx context.Context, c *client.Client) (err error) {
			j, err = c.Submit(ctx, client.Draw(), spec)
			return err
		})
		if err == nil {
			if x.h.submitted(j.ID, n.Name, count); once {
				x.h.runsOnce(j.ID)
			}
			return j.ID, nil
		}
		x.refused.Add(1)
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return "", err
		}
	}
}

// call asks a node.
func (x *chaos) call(ctx context.Context, n *Node, f func(context.Context, *client.Client) error) error {
	c, err := x.t.Client(n)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, stop := context.WithTimeout(ctx, callTime)
	defer stop()
	return f(ctx, c)
}

// cancelLater cancels a job after a while, as often as it takes to be told that it is.
func (x *chaos) cancelLater(ctx context.Context, id string, wait time.Duration) {
	for {
		if pause(ctx, wait) != nil {
			return
		}
		wait = 500 * time.Millisecond
		x.h.asking(id)
		err := x.askAbout(ctx, id, func(ctx context.Context, by string, c *client.Client) error {
			j, err := c.Cancel(ctx, id)
			if err == nil && j.State == v1.JobCancelled { // else it was over before
				x.h.cancelled(id, by, uptime())
			}
			return err
		})
		var p *v1.Problem
		if err == nil || errors.As(err, &p) && p.Status == http.StatusConflict {
			return
		}
	}
}

// askAbout asks the node that a job was submitted to; where that is dead for good, some other one.
func (x *chaos) askAbout(ctx context.Context, id string,
	f func(ctx context.Context, by string, c *client.Client) error) error {
	j := x.h.job(id)
	n, err := x.t.Node(j.origin)
	if err != nil {
		return err
	}
	if !x.isGone(n.Name) {
		return x.call(ctx, n, func(ctx context.Context, c *client.Client) error { return f(ctx, n.Name, c) })
	}
	err = fmt.Errorf("no node is left to ask about job %s", short(id))
	for i := range x.t.state.Nodes {
		if o := &x.t.state.Nodes[i]; !x.isGone(o.Name) {
			if err = x.call(ctx, o, func(ctx context.Context, c *client.Client) error { return f(ctx, o.Name, c) }); err == nil {
				return nil
			}
		}
	}
	return err
}

// watch asks about all jobs over and over, so that a state that goes back is seen.
func (x *chaos) watch(ctx context.Context) {
	for pause(ctx, time.Second) == nil {
		for _, id := range x.h.list() {
			if ctx.Err() == nil && !x.h.job(id).over && x.look(ctx, id) == nil && x.c.Deaths > 0 {
				x.collect(ctx, id)
			}
		}
	}
}

// look asks about a job and its tasks, and checks what is said.
func (x *chaos) look(ctx context.Context, id string) error {
	return x.askAbout(ctx, id, func(ctx context.Context, by string, c *client.Client) error {
		j, err := c.Job(ctx, id)
		var p *v1.Problem
		// another one may not know it yet
		if errors.As(err, &p) && p.Status == http.StatusNotFound && !x.isGone(x.h.job(id).origin) {
			x.h.vanished(id, by, err)
		}
		if err != nil {
			return err
		}
		if j.Behind {
			return fmt.Errorf("%s tells only what it heard last of job %s", by, short(id))
		}
		x.h.saw(by, &j)
		if err := c.EachTask(ctx, id, func(t *v1.Task) error { x.h.sawTask(by, id, t); return nil }); err != nil ||
			!j.Over() {
			return err
		}
		return x.stories(ctx, c, id)
	})
}

// farewell asks a node that is about to be hurt for the stories of its jobs, which it forgets when it is started again.
func (x *chaos) farewell(ctx context.Context, n *Node) {
	for _, id := range x.h.list() {
		if j := x.h.job(id); j.origin == n.Name && !j.over {
			_ = x.call(ctx, n, func(ctx context.Context, c *client.Client) error { return x.stories(ctx, c, id) })
		}
	}
}

// stories asks what happened to the tasks of a job.
func (x *chaos) stories(ctx context.Context, c *client.Client, id string) error {
	for from := uint32(0); ; {
		e, err := c.Explain(ctx, id, from, 0)
		if err != nil {
			return err
		}
		x.h.told(id, e.Tasks)
		if e.Next == nil {
			return nil
		}
		from = *e.Next
	}
}
