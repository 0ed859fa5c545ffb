package sim

import (
	"fmt"
	"strings"
	"time"

	"skep/grid"
)

// Failure is a violated safety check, or something that did not happen in time.
type Failure struct {
	Seed   uint64
	At     time.Duration // since the world began
	Node   int           // that caused it; −1 = none in particular
	What   string
	Repeat string   // the command that repeats the run
	Faults []string // of the world so far, in order
	Last   []string // the last steps before it, oldest first

	Late bool // it is that something did not happen in time

	undecided bool // it is none: the world ended with something that nobody promises
}

// Error returns what happened, where and when, how to repeat it, and the last steps.
func (f *Failure) Error() string {
	who := "the world"
	if f.Node >= 0 {
		who = fmt.Sprintf("node n%d", f.Node)
	}
	s := fmt.Sprintf("seed %d, at %v: %s: %s", f.Seed, f.At, who, f.What)
	if f.Repeat != "" {
		s += "\nrepeat with: " + f.Repeat
	}
	if len(f.Faults) > 0 {
		s += "\nfaults so far:\n  " + strings.Join(f.Faults, "\n  ")
	}
	return s + "\nlast steps:\n  " + strings.Join(f.Last, "\n  ")
}

// stepRecord is a step in the world's ring of recent steps.
type stepRecord struct {
	at   grid.Time
	node int32
	kind grid.EventKind
	msg  grid.Kind
}

// failf records the first failure; the run ends with the step. Where a node has forgotten something, and nobody has
// told it, nothing is decided.
func (w *World) failf(node int32, format string, args ...any) {
	w.failFor(w.anyForgets(), node, format, args...)
}

// failFor is failf where it is known whether anything is decided.
func (w *World) failFor(undecided bool, node int32, format string, args ...any) {
	if w.fail != nil {
		return
	}
	w.fail = &Failure{Seed: w.cfg.Seed, At: time.Duration(w.now), Node: int(node), What: fmt.Sprintf(format, args...),
		Repeat: w.cfg.Repeat, undecided: undecided}
	for k := range w.cfg.Faults {
		if f := &w.cfg.Faults[k]; grid.Time(f.At) <= w.now {
			w.fail.Faults = append(w.fail.Faults, f.String())
		}
	}
	n := uint64(len(w.recent))
	for k := w.steps + 1; k <= w.steps+n; k++ {
		if h := w.recent[k%n]; h.kind != 0 {
			w.fail.Last = append(w.fail.Last, fmt.Sprintf("%v n%d %s", time.Duration(h.at), h.node, eventName(h.kind, h.msg)))
		}
	}
}

var eventNames = [...]string{"", "start", "message", "announce", "wake", "peer up", "peer down", "submit", "cancel",
	"started", "ended", "fetched", "disk", "addrs", "leave", "drain", "undrain", "available", "late"}

func eventName(k grid.EventKind, m grid.Kind) string {
	s := "event"
	if int(k) < len(eventNames) {
		s = eventNames[k]
	}
	if m != 0 {
		s += " " + m.String()
	}
	return s
}

// logLine returns the log's line about a step.
func (w *World) logLine(i int32, ev *grid.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14v n%d %s", time.Duration(w.now), i, eventName(ev.Kind, kindOf(ev)))
	if j := w.index(ev.Peer); j >= 0 && !ev.Peer.IsZero() {
		fmt.Fprintf(&b, " from n%d", j)
	}
	if ev.Kind == grid.EvWake {
		fmt.Fprintf(&b, " timer %d/%d", ev.Timer.Kind, ev.Timer.Key)
	}
	if ev.Msg != nil {
		attemptsText(&b, ev.Msg)
	}
	for k := range w.fx.Saves {
		fmt.Fprintf(&b, " | save %s", saveName(&w.fx.Saves[k]))
	}
	for k := range w.fx.Sends {
		fmt.Fprintf(&b, " | %v to n%d", w.fx.Sends[k].Msg.Kind, w.index(w.fx.Sends[k].To))
		attemptsText(&b, &w.fx.Sends[k].Msg)
	}
	for k := range w.fx.Announces {
		fmt.Fprintf(&b, " | announce %v", w.fx.Announces[k].Kind)
	}
	for _, x := range w.fx.Suspends {
		what := "suspend"
		if x.Resume {
			what = "continue"
		}
		fmt.Fprintf(&b, " | %s %s", what, attemptName(x.Attempt))
	}
	for k := range w.fx.Starts {
		fmt.Fprintf(&b, " | start %s", attemptName(w.fx.Starts[k].Attempt))
	}
	for k := range w.fx.Stops {
		fmt.Fprintf(&b, " | stop %s", attemptName(w.fx.Stops[k].Attempt))
	}
	for _, wake := range w.fx.Wakes {
		fmt.Fprintf(&b, " | wake %d/%d in %v", wake.Timer.Kind, wake.Timer.Key, wake.At.Sub(w.local(i)))
	}
	return b.String()
}

func attemptsText(b *strings.Builder, m *grid.Message) {
	if m.Kind == grid.KindOffer {
		b.WriteString(" " + attemptName(m.Offer.ID))
	}
	if m.Kind >= grid.KindWrite && m.Kind <= grid.KindVote {
		fmt.Fprintf(b, " %d epoch %d seq %d answer %d entries %d done %v", get32(m.Register.Job.Nonce[:]), m.Register.Epoch,
			m.Register.Seq&0xfffff, m.Register.Answer, len(m.Register.Entries), m.Register.Done)
		b.WriteString(membershipText(m.Register.Set))
	}
	for _, a := range m.Attempts {
		b.WriteString(" " + attemptName(a))
	}
}

// membershipText is a membership, if there was a change: its number and epoch, the members, and who leaves or joins.
func membershipText(m *grid.Membership) string {
	if m == nil {
		return ""
	}
	s := fmt.Sprintf(" members %d/%d", m.Number, m.Epoch)
	for _, id := range m.Members {
		s += fmt.Sprintf(" n%d", get32(id[:]))
	}
	if !m.Extra.IsZero() {
		s += fmt.Sprintf(" and n%d, joining %v", get32(m.Extra[:]), m.Joining)
	}
	return s
}

func attemptName(a grid.AttemptID) string {
	return fmt.Sprintf("%d/%d#%v", get32(a.Task.Job.Nonce[:]), a.Task.Index, a.Attempt)
}

func saveName(r *grid.Record) string {
	s := [...]string{"record", "job", "task", "work", "class", "guard", "entry"}[min(int(r.Kind), 6)]
	switch r.Kind {
	case grid.RecRegister:
		s += fmt.Sprintf(" %d promised %d epoch %d", get32(r.Register.ID.Nonce[:]), r.Register.Promised, r.Register.Epoch)
		s += membershipText(r.Register.Set)
	case grid.RecEntry:
		s += fmt.Sprintf(" %s %v epoch %d final %v", attemptName(r.Entry.ID), r.Entry.State, r.Entry.Epoch, r.Entry.Committed)
	case grid.RecWork:
		s += fmt.Sprintf(" %s state %d", attemptName(r.Work.ID), r.Work.State)
	}
	if r.Delete {
		s += " (delete)"
	}
	return s
}
