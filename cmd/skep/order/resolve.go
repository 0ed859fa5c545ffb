package order

import (
	"context"
	"fmt"
	"strings"

	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// Node is asked for the jobs that are named.
type Node interface {
	Job(ctx context.Context, ref string) (v1.Job, error)
	List(ctx context.Context, q *client.ListQuery) (v1.JobPage, error)
}

// Resolve finds the jobs and writes them into a spec. known are jobs that were submitted with it, by name.
func (r *Refs) Resolve(ctx context.Context, c Node, known map[string]*v1.Job, s *v1.Spec) error {
	found := map[string]*v1.Job{}
	for _, name := range r.Names() {
		j, err := find(ctx, c, known, name)
		if err != nil {
			return err
		}
		if j.Access == string(grid.AccessOwner) {
			return fmt.Errorf("job %s: is shown to its owner only, so that no other node is told how it ends: want one under "+
				"access members", name)
		}
		found[name] = j
	}
	s.Order = v1.Order{}
	has := map[string]bool{}
	of := func(name string) v1.Dependency {
		has[found[name].ID] = true
		return v1.Dependency{Job: found[name].ID, Members: found[name].Members}
	}
	for _, name := range r.After {
		s.After = append(s.After, of(name))
	}
	for _, name := range r.OK {
		s.AfterOK = append(s.AfterOK, of(name))
	}
	if r.Each != "" {
		d := of(r.Each)
		if j := found[r.Each]; j.Count != int(max(s.Count, 1)) {
			return fmt.Errorf("after_each %s: that job has %d tasks, and this one %d: want as many", r.Each, j.Count,
				max(s.Count, 1))
		}
		s.AfterEach = &d
	}
	for _, in := range r.Inputs {
		j := found[in.Job]
		if !has[j.ID] {
			s.AfterOK = append(s.AfterOK, of(in.Job))
		}
		if s.AfterEach == nil || s.AfterEach.Job != j.ID {
			if in.Task >= uint32(j.Count) {
				return fmt.Errorf("input %s of job %s: task %d: it has %d tasks, 0 to %d", in.Path, in.Job, in.Task, j.Count,
					j.Count-1)
			}
		}
		s.JobInputs = append(s.JobInputs, v1.JobInput{Job: j.ID, Task: in.Task, Path: in.Path, To: in.To})
	}
	return nil
}

// maxPages bounds the jobs that are searched for a name: 1000 of the newest each.
const maxPages = 10

// find returns the job of a name: one submitted with it, the newest one of that name at this node, or that of an ID,
// the beginning of one, or last.
func find(ctx context.Context, c Node, known map[string]*v1.Job, name string) (*v1.Job, error) {
	if j := known[name]; j != nil {
		return j, nil
	}
	_, whole := grid.ParseJobID(name)
	if name != "last" && whole != nil {
		after := ""
		for range maxPages {
			p, err := c.List(ctx, &client.ListQuery{Limit: 1000, After: after})
			if err != nil {
				return nil, err
			}
			for i := range p.Jobs {
				if p.Jobs[i].Name == name {
					name, p.Next, whole = p.Jobs[i].ID, "", nil
					break
				}
			}
			if after = p.Next; after == "" {
				break
			}
		}
	}
	if whole != nil && !isRef(name) {
		return nil, fmt.Errorf("job %.80q: no job of this name was submitted to this node: want the name or the ID of one, "+
			"or last", name)
	}
	j, err := c.Job(ctx, name)
	if err != nil {
		return nil, err
	}
	return &j, nil
}

// isRef reports whether a name may be an ID or the beginning of one, or last.
func isRef(s string) bool {
	return len(s) >= 4 && len(s) <= 80 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '2' && r <= '7' || r == '-')
	})
}
