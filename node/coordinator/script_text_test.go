package coordinator_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"skep/grid"
)

// Texts of the protocol scripts.

// kindNames are the kinds of messages in the words of the glossary; those on the wire are older.
var kindNames = map[grid.Kind]string{grid.KindWrite: "write", grid.KindWriteAck: "write-ack",
	grid.KindCampaign: "campaign", grid.KindVote: "vote",
	grid.KindKeepalive: "keepalive", grid.KindKeepaliveAck: "keepalive-ack", grid.KindStartLease: "start-lease",
	grid.KindStartLeaseAck: "start-lease-ack",
	grid.KindDeposit:       "deposit", grid.KindDepositAck: "deposit-ack", grid.KindResultAck: "result-ack",
	grid.KindReserveAck: "reserve-ack"}

// setOptions reads the options of a job, CORES:SPEEDUP each, separated by commas. It comes last of what a job needs.
func setOptions(s *grid.JobSpec, text string) error {
	var all []grid.Option
	for _, one := range strings.Split(text, ",") {
		o := grid.Option{Speedup: 1, Value: 1}
		if _, err := fmt.Sscanf(one, "%d:%f", &o.CPU, &o.Speedup); err != nil {
			return fmt.Errorf("options %s: want CORES:SPEEDUP: %w", one, err)
		}
		o.CPU *= grid.CPU
		all = append(all, o)
	}
	s.Needs.SetOptions(all)
	return nil
}

// placesText says which node has how many ranks.
func placesText(places []grid.RankPlace) (s string) {
	for _, p := range places {
		s += fmt.Sprintf(", %d at %c", p.Ranks, p.Node[0])
		if p.Shares != nil {
			s += fmt.Sprintf(" %v", p.Shares)
		}
	}
	return s
}

func kindName(k grid.Kind) string {
	if name, found := kindNames[k]; found {
		return name
	}
	return k.String()
}

var answerNames = [...]string{"", "ok", "higher epoch", "owner is alive", "unknown", "closed", "differs", "full",
	"gone", "is no member"}

// printf prints a line, with the time where it has changed.
func (w *network) printf(format string, args ...any) {
	column := strings.Repeat(" ", 6)
	if s := fmt.Sprintf("%6.2f", w.now.Sub(clockStart).Seconds()); s != fmt.Sprintf("%6.2f",
		w.shown.Sub(clockStart).Seconds()) {
		column, w.shown = s, w.now
	}
	w.out.WriteString(column + "  " + fmt.Sprintf(format, args...) + "\n")
}

func (w *network) byID(id grid.NodeID) *member {
	return w.nodes[slices.IndexFunc(w.nodes, func(m *member) bool { return m.cfg.Self == id })]
}

func (w *network) name(id grid.NodeID) string {
	if id.IsZero() {
		return "nobody"
	}
	return w.byID(id).name
}

func (w *network) job(id grid.JobID) string { return strings.TrimRight(string(id.Nonce[:]), "\x00") }

// attempt names an attempt; the number zero stands for the task.
func (w *network) attempt(id grid.AttemptID) string {
	s := fmt.Sprintf("%s/%d", w.job(id.Task.Job), id.Task.Index)
	if id.Attempt != (grid.Attempt{}) {
		s += "#" + id.Attempt.String()
	}
	return s
}

// answer is the first part of what a local caller is told.
func (w *network) answer(text string) string {
	if text == "" {
		return "done"
	}
	for _, id := range w.jobs {
		text = strings.NewReplacer(id.String(), w.job(id), id.Short(), w.job(id)).Replace(text)
	}
	text, _, _ = strings.Cut(text, ";")
	return text
}

// message is a message with what a reader of the protocol needs of it.
func (w *network) message(m *grid.Message) string {
	s, g := kindName(m.Kind), &m.Register
	for _, id := range m.Attempts {
		if m.Kind == grid.KindKeepalive || m.Kind == grid.KindKeepaliveAck || m.Kind == grid.KindTakeover {
			s += fmt.Sprintf(" %s epoch %d", w.job(id.Task.Job), id.Epoch)
		} else {
			s += " " + w.attempt(id)
		}
	}
	switch m.Kind {
	case grid.KindState:
		if m.State.Why != grid.WhyNone {
			s += ": " + m.State.Why.String()
		}
	case grid.KindOffer:
		if s += " " + w.attempt(m.Offer.ID); m.Offer.Option > 0 {
			s += fmt.Sprintf(" as option %d", m.Offer.Option-1)
		}
		if m.Offer.Changes > 0 {
			s += fmt.Sprintf(", members %d", m.Offer.Changes)
		}
	case grid.KindCheckpoint, grid.KindCheckpointAck, grid.KindCheckpointKeep:
		s += checkpointText(m.Checkpoint)
	case grid.KindReserve:
		s += fmt.Sprintf(" %s#%v, %d ranks", w.job(m.Reserve.Job), m.Reserve.Attempt, m.Reserve.Ranks)
		if m.Reserve.Later {
			s += ", later too"
		}
	case grid.KindReserveAck:
		if s += fmt.Sprintf(" %s#%v", w.job(m.Reserve.Job), m.Reserve.Attempt); m.Reserve.Refusal.Why != grid.WhyNone {
			s += ": " + m.Reserve.Refusal.Why.String()
		}
		if m.Reserve.Holder != (grid.JobID{}) {
			s += ", " + w.job(m.Reserve.Holder)
		}
	case grid.KindVacate:
		if m.Started {
			s += ", also if it runs"
		}
	case grid.KindRefuse:
		if s += ": " + m.Refusal.Why.String(); m.Refusal.Detail != "" {
			s += ", " + m.Refusal.Detail
		}
		if m.Prices != nil {
			s += fmt.Sprintf(", %v; %v left", m.Prices, m.Prices.Left)
		}
	case grid.KindResult:
		s += " " + outcome(m.Result)
	case grid.KindBye:
		if ad := m.Digest[0].Ad; ad.Draining {
			s = "that it drains"
		} else if ad.Leaving {
			s = "that it leaves"
		}
	case grid.KindWrite, grid.KindWriteAck, grid.KindCampaign, grid.KindVote:
		s += fmt.Sprintf(" %s epoch %d", w.job(g.Job), g.Epoch) + answerName(g.Answer) + w.membership(g.Set) +
			w.change(m.Kind, g) + w.entries(g)
	case grid.KindKeepaliveAck:
		s += answerName(g.Answer)
	case grid.KindTakeover:
		if len(m.Attempts) == 0 {
			s += fmt.Sprintf(" %s epoch %d, owner %s", w.job(g.Job), g.Epoch, w.name(g.Owner))
		}
	}
	return s
}

func answerName(a grid.RegisterAnswer) string {
	if a == 0 {
		return ""
	}
	return " " + answerNames[a]
}

// membership says who keeps a register since members were replaced.
func (w *network) membership(m *grid.Membership) string {
	if m == nil {
		return ""
	}
	names := make([]string, len(m.Members))
	for k, id := range m.Members {
		names[k] = w.name(id)
	}
	s := fmt.Sprintf(", members %d: %s", m.Number, strings.Join(names, " "))
	switch {
	case m.Joining:
		s += ", joins: " + w.name(m.Extra)
	case !m.Settled():
		s += ", not settled, for " + w.name(m.Extra)
	}
	if m.Links != "" {
		s += ", signed"
	}
	return s
}

// entries lists the ends of tasks that a message of a register carries.
func (w *network) entries(g *grid.RegisterMessage) (s string) {
	for i := range g.Entries {
		if e := &g.Entries[i]; e.Result == nil {
			s += ", cancellation"
		} else if e.Offered != nil {
			s += offersText(e.Offered)
		} else if e.IsRetry() {
			s += fmt.Sprintf(", /%d again after #%v %s", e.Index, e.Attempt, outcome(e.Result))
		} else {
			s += fmt.Sprintf(", /%d#%v %s", e.Index, e.Attempt, outcome(e.Result))
		}
	}
	if g.Done {
		s += ", closed"
	}
	if g.Opened > 0 {
		s += fmt.Sprintf(", opened %d", g.Opened)
	}
	return s
}

// offersText says which tasks may have been offered.
func offersText(o *grid.OfferedTasks) string {
	s := fmt.Sprintf(", offers below /%d", o.Below)
	for k, f := range o.Free {
		s += []string{" but", ","}[min(k, 1)] + fmt.Sprintf(" /%d to /%d", f.From, f.To-1)
	}
	return s
}

func outcome(r *grid.Result) string {
	switch {
	case r == nil:
		return "nothing"
	case r.Cause == grid.Exited:
		return fmt.Sprintf("exit %d", r.Exit)
	}
	return r.Cause.String()
}

var workNames = [...]string{"", "queued", "running", "finished"}

// record is what a node does to a record; "" = not told.
func (w *network) record(r *grid.Record) (s string) {
	switch {
	case r.Kind == grid.RecClass:
		return ""
	case r.Delete && r.Kind == grid.RecWork:
		return "deletes attempt " + w.attempt(r.Work.ID)
	case r.Delete && r.Kind == grid.RecRegister:
		return "deletes register " + w.job(r.Register.ID)
	case r.Delete && r.Kind == grid.RecEntry:
		return fmt.Sprintf("deletes task %s/%d", w.job(r.Entry.ID.Task.Job), r.Entry.ID.Task.Index)
	case r.Kind == grid.RecCheckpoint:
		x := r.Checkpoint
		if r.Delete {
			return "deletes checkpoints of " + w.attempt(x.ID)
		}
		s = fmt.Sprintf("saves checkpoint %d of %s, %d files", x.Step, w.attempt(x.ID), len(x.Files))
	case r.Kind == grid.RecTombstone && r.Delete:
		return "deletes tombstone " + w.job(r.Tombstone.ID)
	case r.Kind == grid.RecTombstone:
		s = "saves tombstone " + w.job(r.Tombstone.ID)
	case r.Kind == grid.RecWork:
		s = fmt.Sprintf("saves attempt %s %s", w.attempt(r.Work.ID), workNames[r.Work.State])
		if r.Work.HandedBack != nil {
			s = "saves attempt " + w.attempt(r.Work.ID) + " handed back"
		}
	case r.Kind == grid.RecRegister:
		g := &r.Register
		s = fmt.Sprintf("saves register %s epoch %d owner %s", w.job(g.ID), g.Epoch, w.name(g.Owner))
		if g.Promised != g.Epoch {
			s += fmt.Sprintf(", votes for %s in epoch %d", w.name(g.VotedFor), g.Promised)
		}
		if g.Done {
			s += ", closed"
		}
		s += w.membership(g.Set)
		if g.Opened > 0 {
			s += fmt.Sprintf(", opened %d", g.Opened)
		}
	default:
		s = w.entry(&r.Entry)
	}
	if r.Later {
		s += " (later)"
	}
	return s
}

// openEntry says what a record holds of a failure after which the task goes on.
func openEntry(e *grid.EntryRecord) string {
	switch v := e.Open; {
	case v == nil:
		return ""
	case v.Offered != nil && e.Committed:
		return offersText(v.Offered) + ", committed"
	case v.Offered != nil:
		return offersText(v.Offered)
	case v.Used > 0:
		return fmt.Sprintf(", used %v, round %d", v.Used.Round(time.Second), v.Round)
	case v.Result.Cause == grid.Lost: // of no task
		return fmt.Sprintf(", #%v is given up for move %d", v.Attempt, v.Round+1)
	case v.IsRetry() && e.Committed:
		return fmt.Sprintf(", again after end %d (#%v %s), committed", v.Round, v.Attempt, outcome(v.Result))
	case v.IsRetry():
		return fmt.Sprintf(", again after end %d (#%v %s)", v.Round, v.Attempt, outcome(v.Result))
	case e.Committed:
		return fmt.Sprintf(", after failure %d (#%v %s), committed", v.Round+1, v.Attempt, outcome(v.Result))
	default:
		return fmt.Sprintf(", after failure %d (#%v %s)", v.Round+1, v.Attempt, outcome(v.Result))
	}
}

func (w *network) entry(e *grid.EntryRecord) (s string) {
	s = fmt.Sprintf("saves task %s %v", w.attempt(e.ID), e.State)
	defer func() { s += openEntry(e) }()
	switch e.State {
	case grid.Pending:
		if e.Lost > 0 {
			s += fmt.Sprintf(", lost %d", e.Lost)
		}
		if e.Pulls > 0 && e.State != grid.Ended {
			s += fmt.Sprintf(", moved %d", e.Pulls)
		}
		if e.Moves > 0 && e.State != grid.Ended {
			s += fmt.Sprintf(", moved %d after its start", e.Moves)
		}
	case grid.Offered, grid.Placed:
		s += " " + w.name(e.Worker)
	case grid.Ended:
		if s += " " + outcome(e.Result); e.Result == nil {
			s = "saves cancellation " + w.job(e.ID.Task.Job)
		}
		if e.Committed {
			s += ", committed"
		}
	}
	if b := e.Backup; b != nil && !b.Worker.IsZero() {
		s += fmt.Sprintf(", backup #%v %s", b.Attempt, w.name(b.Worker))
	}
	return s
}

// recordKey is the key of a record on disk.
func recordKey(r *grid.Record) string {
	switch r.Kind {
	case grid.RecWork:
		return "work " + r.Work.ID.String()
	case grid.RecClass:
		return "class " + r.Class.Class
	case grid.RecRegister:
		return "register " + r.Register.ID.String()
	case grid.RecTombstone:
		return "tombstone " + r.Tombstone.ID.String()
	case grid.RecCheckpoint:
		return "checkpoint " + r.Checkpoint.ID.Task.String()
	}
	return "entry " + r.Entry.ID.Task.String()
}

func sortedKeys(m map[string]grid.Record) []string { return slices.Sorted(maps.Keys(m)) }
