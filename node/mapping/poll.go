package mapping

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// Poll is the questions of an event and their answers.
type Poll struct {
	Polling  bool
	Answers  []balance.State
	Asked    []grid.NodeID
	Sent     grid.Time
	Deadline grid.Time

	round      uint8 // answers to an earlier round are stale
	questions  []question
	unanswered int
	trades     bool // answers are to say what a bid meets
}

// question is what a node was asked about.
type question struct {
	spec     *grid.JobSpec
	level    string // of a class
	answered bool
}

func (p *Poll) begin(now grid.Time) {
	p.Polling, p.Sent, p.unanswered = true, now, 0
	p.round++
	p.Answers, p.Asked, p.questions = p.Answers[:0], p.Asked[:0], p.questions[:0]
}

// Ask records that a node is asked about tasks of a kind, and fills in the rest of the question.
func (p *Poll) Ask(id grid.NodeID, handle uint64, k *Kind, q *grid.Poll) {
	p.Asked, p.questions = append(p.Asked, id), append(p.questions, question{spec: k.Spec, level: k.Level})
	p.unanswered++
	q.ID, q.Needs, q.Bid = handle<<8|uint64(p.round), k.Spec.Needs.Resources, k.Spec.Bid()
	q.Trades = p.trades
	q.Options = q.Options[:0]
	for i := range k.Spec.Needs.Options {
		o := &k.Spec.Needs.Options[i]
		q.Options = append(q.Options, grid.PollOption{Needs: o.Resources, Speedup: o.Speedup})
	}
}

// Unasked reports whether an answer is to the poll under way, of a node that was not asked.
func (p *Poll) Unasked(from grid.NodeID, id uint64) bool {
	return p.Polling && p.round == uint8(id) && !slices.Contains(p.Asked, from)
}

// Answered records that a node has answered, and returns what it was asked about; false if no answer of it is awaited.
func (p *Poll) Answered(from grid.NodeID, id uint64) (spec *grid.JobSpec, level string, awaited bool) {
	at := slices.Index(p.Asked, from)
	if !p.Polling || p.round != uint8(id) || at < 0 || p.questions[at].answered {
		return nil, "", false
	}
	q := &p.questions[at]
	q.answered = true
	p.unanswered--
	return q.spec, q.level, true
}

// Complete reports whether no answer is awaited.
func (p *Poll) Complete() bool { return p.unanswered == 0 }

// about reports whether a node was asked about tasks like those of a kind: of the same level of a class and, if there
// are options, of the same job.
func (p *Poll) about(id grid.NodeID, k *Kind) bool {
	at := slices.Index(p.Asked, id)
	if at < 0 || p.questions[at].level != k.Level {
		return false
	}
	asked := p.questions[at].spec
	return asked == k.Spec || len(asked.Needs.Options)+len(k.Spec.Needs.Options) == 0
}
