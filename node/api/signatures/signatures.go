package signatures

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
	"skep/node/chain"
)

// Path is the rest of the path of a job's signatures.
const Path = "/signatures"

// Handler answers the requests.
type Handler struct {
	Self grid.NodeID
	Read func(ctx context.Context, f func(n *node.Node, now grid.Time)) error

	// Gone is the error about a job that is not here, with what is known of why.
	Gone func(id grid.JobID, why string) error
}

// In is a request about the tasks of a job from one on.
type In struct {
	ID    string `path:"id" doc:"Job ID, or a part of it, a name, or last, as elsewhere. This node must keep the job: no other is asked."`
	From  uint32 `query:"from" doc:"Index of the first task."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"1000"`
}

// kept is what this node keeps of a job, and how tasks of it are.
type kept struct {
	grid.RegisterRecord
	ends   []grid.Entry
	states []grid.TaskState
	now    []grid.NodeID // who keeps the job now; nil = this node alone
	names  map[grid.NodeID]string
}

// Get checks a page of a job's tasks, and the links that they rest on. The node goes on meanwhile: it is read once.
func (h *Handler) Get(ctx context.Context, in *In) (*v1.Signatures, error) {
	id, err := grid.ParseJobID(in.ID)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	k, err := h.read(ctx, id, in.From, uint32(min(uint64(in.From)+uint64(in.Limit), grid.MaxCount)))
	if err != nil {
		return nil, err
	}
	out := &v1.Signatures{Job: id.String(), By: h.Self.String(), Signed: k.Spec.Signed, Count: int(k.Spec.Count),
		Tasks: []v1.SignedTask{}}
	if end := in.From + uint32(len(k.states)); end < k.Spec.Count {
		out.Next = &end
	}
	var report chain.Report
	if k.Spec.Signed {
		report = *chain.Verify(h.Self, &k.RegisterRecord, k.ends)
		links(out, k, &report)
	}
	ends := report.Ends
	for i, state := range k.states {
		t := v1.SignedTask{Index: in.From + uint32(i), State: state.String()}
		if len(ends) > 0 && ends[0].Index == t.Index {
			endOf(&t, &k.ends[len(k.ends)-len(ends)], &ends[0])
			ends = ends[1:]
		}
		out.Tasks = append(out.Tasks, t)
	}
	name(out, k.names)
	return out, nil
}

func (h *Handler) read(ctx context.Context, id grid.JobID, from, end uint32) (*kept, error) {
	var k kept
	found, why := false, ""
	err := h.Read(ctx, func(n *node.Node, now grid.Time) {
		if k.RegisterRecord, k.ends, found = n.Recorded(id, from, end); !found {
			why = n.Gone(id)
			return
		}
		for i := from; i < min(end, k.Spec.Count); i++ {
			t, _ := n.Task(grid.TaskID{Job: id, Index: i})
			k.states = append(k.states, t.State)
		}
		if j, _ := n.Job(id); len(j.Members) > 0 {
			k.now = append(k.now, j.Members...)
		}
		k.names = map[grid.NodeID]string{}
		for _, p := range n.Peers(now, nil) {
			k.names[p.Ad.Node] = p.Ad.Name
		}
	})
	if err == nil && !found {
		err = h.Gone(id, why)
	}
	return &k, err
}

// links says what was found of the links that all ends rest on.
func links(out *v1.Signatures, k *kept, r *chain.Report) {
	out.Origin = &v1.SignedOrigin{Node: k.ID.Origin.String(), Members: texts(k.Members), NotKept: r.Unsigned,
		Problem: text(r.Origin)}
	now := k.now
	if now == nil {
		now = k.Members
	}
	out.Members = &v1.SignedMembers{Nodes: texts(now), Changes: k.Set.Changes(), Problem: text(r.Members)}
	if k.Epoch > 0 {
		out.Owner = &v1.SignedOwner{Node: k.Owner.String(), Epoch: k.Epoch, Voters: texts(r.Voters), Problem: text(r.Owner)}
	}
}

// endOf says what was found of the end of a task.
func endOf(t *v1.SignedTask, e *grid.Entry, end *chain.End) {
	t.Attempt, t.Cause, t.Exit = e.Attempt.String(), e.Result.Cause.String(), e.Result.Exit
	if t.Problem = text(end.Err); end.Err != nil {
		return
	}
	t.Owner, t.Epoch = end.Owner.String(), end.Epoch
	if !end.Worker.IsZero() {
		t.Worker = end.Worker.String()
	}
}

// name adds the names of the nodes in an answer.
func name(out *v1.Signatures, names map[grid.NodeID]string) {
	out.Names = map[string]string{}
	var all []string
	all = append(all, out.By)
	if out.Origin != nil {
		all = append(append(append(all, out.Origin.Node), out.Origin.Members...), out.Members.Nodes...)
	}
	if out.Owner != nil {
		all = append(append(all, out.Owner.Node), out.Owner.Voters...)
	}
	for i := range out.Tasks {
		all = append(all, out.Tasks[i].Worker, out.Tasks[i].Owner)
	}
	for _, id := range all {
		if n, err := grid.ParseNodeID(id); err == nil && names[n] != "" {
			out.Names[id] = names[n]
		}
	}
}

func texts(ids []grid.NodeID) (out []string) {
	for _, id := range ids {
		out = append(out, id.String())
	}
	return out
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
