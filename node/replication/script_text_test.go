package replication

import (
	"fmt"
	"strings"

	"skep/grid"
)

// Texts of the scripts.

var kindNames = map[grid.Kind]string{grid.KindWrite: "write", grid.KindWriteAck: "write-ack",
	grid.KindCampaign: "campaign", grid.KindVote: "vote",
	grid.KindKeepalive: "keepalive", grid.KindKeepaliveAck: "keepalive-ack"}

var answerNames = [...]string{"", " ok", " higher epoch", " owner is alive", " unknown", " closed", " differs", " full",
	" gone", " is no member"}

// changeTexts say what a change means; a moved register may be told of again and again.
var changeTexts = map[grid.RegisterChangeKind]string{grid.RegisterLost: "not the owner of JOB any more",
	grid.RegisterOwned:   "owner of JOB",
	grid.RegisterRenewed: "owner of JOB as before", grid.RegisterClosed: "JOB is closed", grid.RegisterVoid: "JOB is void",
	grid.RegisterOver: "JOB is over", grid.RegisterForgotten: "JOB is forgotten"}

// printf prints a line, with the time where it has changed.
func (w *scriptWorld) printf(format string, args ...any) {
	text := func(t grid.Time) string { return fmt.Sprintf("%6.2f", t.Sub(scriptStart).Seconds()) }
	column := strings.Repeat(" ", 6)
	if w.shown < 0 || text(w.now) != text(w.shown) {
		column, w.shown = text(w.now), w.now
	}
	w.out.WriteString(column + "  " + fmt.Sprintf(format, args...) + "\n")
}

func nodeName(id grid.NodeID) string {
	if id.IsZero() {
		return "nobody"
	}
	return string(id[:1])
}

func stateText(g *grid.RegisterRecord) string {
	s := fmt.Sprintf("%s epoch %d owner %s", jobName(g.ID), g.Epoch, nodeName(g.Owner))
	if g.Promised != g.Epoch {
		s += fmt.Sprintf(", votes for %s in epoch %d", nodeName(g.VotedFor), g.Promised)
	}
	if g.Done {
		s += ", closed"
	}
	return s
}

func entryText(e *grid.Entry, tasks uint32) string {
	if e.Index == tasks {
		return ", cancellation"
	}
	return fmt.Sprintf(", /%d exit %d", e.Index, e.Result.Exit)
}

func (w *scriptWorld) messageText(m *grid.Message) string {
	s, g := kindNames[m.Kind], &m.Register
	switch m.Kind {
	case grid.KindKeepalive:
		if len(m.Attempts) == 0 {
			s += fmt.Sprintf(" of %d", g.Count)
		}
	case grid.KindKeepaliveAck:
		s += answerNames[g.Answer]
	default:
		s += fmt.Sprintf(" %s epoch %d", jobName(g.Job), g.Epoch) + answerNames[g.Answer]
		if g.Answer == grid.RegisterHigher && !g.Owner.IsZero() {
			s += " owner " + nodeName(g.Owner)
		}
	}
	for _, x := range m.Attempts {
		s += fmt.Sprintf(" %s epoch %d", jobName(x.Task.Job), x.Epoch)
	}
	for i := range g.Entries {
		s += entryText(&g.Entries[i], w.specs[g.Job].Count)
	}
	if g.Done {
		s += ", closed"
	}
	return s
}
