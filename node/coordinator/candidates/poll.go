package candidates

import (
	"cmp"
	"slices"

	"skep/balance"
	"skep/grid"
	"skep/node/decisions"
)

// Poll is what a placement decision has asked and heard.
type Poll struct {
	Polled  []grid.NodeID   // nodes polled in this decision
	Answers []balance.State // in this decision
	Sent    grid.Time       // sending time of the poll, or of the offer that followed
	Weighed decisions.Candidates

	round      uint8         // of polling: answers to an earlier round are stale
	unanswered []grid.NodeID // nodes polled whose answers are missing, also after the end of the poll
}

// Begin begins a decision.
func (p *Poll) Begin() {
	p.Polled, p.Answers = p.Polled[:0], p.Answers[:0]
	p.Weighed.Reset()
}

// Clear forgets what was asked and heard: the decision is made without it.
func (p *Poll) Clear() {
	p.Polled, p.Answers, p.unanswered = p.Polled[:0], p.Answers[:0], p.unanswered[:0]
}

// Ignore waits for nobody who was asked any more.
func (p *Poll) Ignore() { p.unanswered = p.unanswered[:0] }

// NextRound begins a round of questions.
func (p *Poll) NextRound() {
	p.Ignore()
	p.round++
}

// Ask records that a node is asked in this round.
func (p *Poll) Ask(id grid.NodeID) {
	p.Polled, p.unanswered = append(p.Polled, id), append(p.unanswered, id)
}

// ID names this round of the poll of the task with a handle.
func (p *Poll) ID(handle uint64) uint64 { return handle<<8 | uint64(p.round) }

// Handle is the handle in the name of a round.
func Handle(id uint64) uint64 { return id >> 8 }

// IsRound reports whether a name is that of this round.
func (p *Poll) IsRound(id uint64) bool { return p.round == uint8(id) }

// Asked reports whether a node was asked in this decision.
func (p *Poll) Asked(id grid.NodeID) bool { return slices.Contains(p.Polled, id) }

// Answered records that a node has answered, or will not, and reports whether it was waited for.
func (p *Poll) Answered(id grid.NodeID) bool {
	at := slices.Index(p.unanswered, id)
	if at >= 0 {
		p.unanswered = slices.Delete(p.unanswered, at, at+1)
	}
	return at >= 0
}

// AnswerOf is the last answer of a node; nil = there is none.
func (p *Poll) AnswerOf(id grid.NodeID) *balance.State {
	for i := len(p.Answers) - 1; i >= 0; i-- {
		if p.Answers[i].Node == id {
			return &p.Answers[i]
		}
	}
	return nil
}

// Complete reports whether nobody is waited for.
func (p *Poll) Complete() bool { return len(p.unanswered) == 0 }

// Soonest is when the best of the nodes that have answered would be done, in seconds; there must be one.
func (p *Poll) Soonest() float64 {
	return slices.MinFunc(p.Answers, func(a, b balance.State) int { return cmp.Compare(a.ECT, b.ECT) }).ECT
}

// AwaitsBetter reports whether an answer that is missing could still be the best; couldWin says so of a node.
func (p *Poll) AwaitsBetter(couldWin func(id grid.NodeID, best float64) bool) bool {
	best := p.Soonest()
	return slices.ContainsFunc(p.unanswered, func(id grid.NodeID) bool { return couldWin(id, best) })
}

// Release ends the decision, and returns its answers' buffer for reuse; nil = it has none.
func (p *Poll) Release() (buffer []balance.State) {
	if p.Answers != nil {
		buffer = p.Answers[:0]
	}
	p.Answers, p.unanswered = nil, nil
	return buffer
}
