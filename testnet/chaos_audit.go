package testnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// auditTime bounds the questions after all is over, so that a run has an end. What was not answered by then is a
// trouble.
const auditTime = 40 * time.Second

// audit compares what the nodes have on record with what the tasks wrote down themselves.
func (x *chaos) audit(ctx context.Context) (*Report, error) {
	ctx, stop := context.WithTimeout(ctx, auditTime)
	defer stop()
	r := &Report{Seed: x.c.Seed, Kind: x.t.Kind(), Isolation: x.t.Isolation(), Nodes: len(x.t.state.Nodes),
		Faults: len(x.faults), Deaths: len(x.deaths)}
	r.Refused = int(x.refused.Load())
	if x.c.Deaths > 0 {
		r.Successions = &Successions{Deaths: len(x.deaths), Joined: x.joined()}
	}
	for _, id := range x.h.list() {
		if j := x.h.job(id); j.said != nil { // it was over, and all of it was read then: who kept it may be gone since
			if x.look(ctx, id) != nil {
				r.Successions.Forgotten++
			}
		} else if err := x.lastLook(ctx, id); err != nil {
			if o := x.h.job(id).origin; x.isGone(o) && ctx.Err() == nil {
				x.h.vanished(id, "every other node than "+o+", which is gone for good,", err)
			} else {
				x.trouble("job %s: its origin does not tell about it: %v", short(id), err)
			}
		}
	}
	log, err := readLog(x.log)
	if err != nil {
		return nil, err
	}
	if log.torn > 0 {
		x.trouble("%d lines of the tasks' log cannot be read", log.torn)
	}
	for _, id := range x.h.list() {
		if err := x.auditJob(ctx, r, log, x.h.jobs[id]); err != nil {
			return nil, err
		}
	}
	x.auditDeaths(r, log)
	for _, runs := range log.tasks {
		for _, u := range runs {
			if u.begins > 1 {
				x.h.violate("job %s task %d: attempt %s began %d times", short(u.key.job), u.key.index, u.key.attempt, u.begins)
			}
		}
	}
	r.Twice, r.Calls, r.Violations, r.Troubles = x.h.twice, x.h.calls, x.h.violations, x.troubles
	return r, nil
}

// lastLook asks about a job until it is answered.
func (x *chaos) lastLook(ctx context.Context, id string) (err error) {
	for end := time.Now().Add(15 * time.Second); ; {
		if err = x.look(ctx, id); err == nil || time.Now().After(end) {
			return err
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// auditJob judges each task of a job.
func (x *chaos) auditJob(ctx context.Context, r *Report, log *runLog, j *jobHistory) error {
	if j.asked {
		r.Cancelled++
		if j.cancelled == 0 {
			return nil // it was over before, or nobody acknowledged it
		}
		for i := range uint32(j.count) {
			for _, u := range log.tasks[taskKey{j.id, i}] {
				if u.begun > j.cancelled+0.011 { // the clock's step
					r.AfterCancel++
					r.LateCancel = max(r.LateCancel, u.begun-j.cancelled)
				}
			}
		}
		return nil
	}
	said, err := j.said, error(nil)
	if said == nil {
		said, err = x.outputs(ctx, j)
	}
	if err != nil {
		return err
	}
	if r.Jobs++; j.changed && r.Successions != nil {
		r.Successions.Moved++
	}
	r.Submitted += j.count
	for i := range uint32(j.count) {
		text, read := said[i]
		x.auditTask(r, log, j, i, text, read)
	}
	return nil
}

func (x *chaos) auditTask(r *Report, log *runLog, j *jobHistory, i uint32, said string, read bool) {
	key := taskKey{j.id, i}
	runs := log.tasks[key]
	if len(runs) > 1 {
		r.Rerun++
	}
	rec, ok := j.results[i]
	if j.once && x.auditOnce(r, j, i, runs, rec, ok) {
		return
	}
	if !ok || rec.exit != 0 {
		r.Lost++
		x.h.violate("job %s task %d: is lost: %+v", short(j.id), i, rec)
		return
	}
	r.Done++
	ended := 0
	for _, u := range runs {
		if u.end > 0 {
			ended++
			if u.key.attempt != rec.attempt {
				r.Fenced++
			}
		}
	}
	if u := log.runs[runKey{key, rec.attempt}]; u == nil || u.end == 0 || u.node != rec.node {
		r.Unfenced++
		x.h.violate("job %s task %d: attempt %s at %s is on record, which did not run to its end there", short(j.id), i,
			rec.attempt, short(rec.node))
	} else if want := fmt.Sprintf("%s %d %s %s\n", j.id, i, rec.attempt, rec.node); read && said != want {
		r.Unfenced++
		x.h.violate("job %s task %d: attempt %s is on record with the output of another one: %q", short(j.id), i, rec.attempt,
			said)
	}
}

// outputs returns what each task of a job printed, as its origin has it.
func (x *chaos) outputs(ctx context.Context, j *jobHistory) (map[uint32]string, error) {
	out, missing, unread := x.readOutputs(ctx, j)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	if missing > 0 {
		x.trouble("job %s: the outputs of %d tasks cannot be read: %v", short(j.id), missing, unread)
	}
	return out, nil
}

// readOutputs is outputs, with the number of tasks whose output was not read, and why the last of them was not.
func (x *chaos) readOutputs(ctx context.Context, j *jobHistory) (out map[uint32]string, missing int, unread error) {
	out = map[uint32]string{}
	for i := range uint32(j.count) {
		if _, ok := j.results[i]; !ok {
			continue
		}
		err := x.askAbout(ctx, j.id, func(ctx context.Context, _ string, c *client.Client) error {
			s, err := c.Logs(ctx, j.id, i, false, 0)
			if err != nil {
				return err
			}
			defer s.Close()
			var b bytes.Buffer
			for {
				f, _, err := s.Next()
				if errors.Is(err, io.EOF) {
					out[i] = b.String()
					return nil
				}
				if err != nil {
					return err
				}
				if f.Kind == v1.FrameStdout {
					b.Write(f.Data)
				}
			}
		})
		if err != nil {
			unread, missing = err, missing+1
		}
	}
	return out, missing, unread
}
