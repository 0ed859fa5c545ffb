package mapping

import (
	"math"

	"skep/balance"
	"skep/grid"
)

// Peers are the nodes that are asked.
type Peers interface {
	// Ask begins a poll of a node about tasks of a level of a class; nil = it is not to be asked.
	Ask(id grid.NodeID, level string, fx *grid.Effects) *grid.Message
}

// AskAll asks nodes, each about the first kind that it fits. What is known of one that needs no question is its answer.
func (e *Events) AskAll(ids []grid.NodeID, t MetaTask, peers Peers, fx *grid.Effects) {
	for _, id := range ids {
		k := t.About(id)
		if s := k.State(id); s.Answer {
			e.Answers = append(e.Answers, *s)
		} else if m := peers.Ask(id, k.Level, fx); m != nil {
			e.Ask(id, e.Handle, k, &m.Poll)
		}
	}
}

// Tasks are the tasks of a meta-task at their owner, who knows them by the indices of their kinds.
type Tasks interface {
	// HasRoom reports whether there is room for a further decision.
	HasRoom() bool

	// Offer offers the next task of a kind, and reports whether it did. The choice rests on the states.
	Offer(kind int, x balance.Choice, of []balance.State) bool

	// Keep has the tasks of a kind that are not offered wait for the next event. The last of them is expected to end in
	// so many seconds.
	Keep(kind int, end float64)
}

// windows is how many decision windows of tasks get a place by the next event, and later, at most.
const windows = 4

// Finish ends an event with the answers that have come: the policy maps all tasks that wait now, and those that begin
// before the next event are offered. window is the owner's decision window.
func (e *Events) Finish(now grid.Time, t MetaTask, by balance.Mapper, window int, tasks Tasks) {
	most := windows * window // more have no chance to be offered now
	rows := t.Rows(&e.Poll, e.Interval(), most)
	plan := by.Map(now, rows)
	weighed := make([][]balance.State, len(t)) // by kind, of those that are offered
	of := func(kind int) []balance.State {
		if len(t[kind].Spec.Needs.Options) == 0 {
			return e.Answers
		}
		if weighed[kind] == nil {
			weighed[kind] = t[kind].weighed(&e.Poll, &rows.Kinds[kind])
		}
		return weighed[kind]
	}
	next, later, offered := math.Inf(1), 0, false
	placed, end := make([]int, len(t)), make([]float64, len(t))
	for _, x := range plan.Placed {
		switch to := e.Answers[x.Node].Node; {
		case x.Free > e.Interval():
			next, later = min(next, x.Free), later+1
		case !tasks.HasRoom():
			e.Full()
		case tasks.Offer(x.Kind, balance.Choice{Act: balance.Place, Node: to, ECT: x.End, Option: x.Option}, of(x.Kind)):
			offered = true
			placed[x.Kind]++
			continue
		}
		end[x.Kind] = max(end[x.Kind], x.End)
	}
	if offered && len(plan.Placed)-later == most {
		e.Full()
	}
	for i := range t {
		if placed[i] < t[i].Tasks {
			next = min(next, plan.Next)
			tasks.Keep(i, max(end[i], plan.End(i)))
		}
	}
	e.End(now, next)
}
