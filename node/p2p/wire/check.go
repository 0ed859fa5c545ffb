package wire

import (
	"fmt"
	"strings"
	"time"

	"skep/grid"
)

// MaxSpan is the longest duration on the wire, some 146 years: the sum of two does not overflow. A longer one, such
// as the completion time of what will never be done, is sent as this.
const MaxSpan = time.Duration(1)<<62 - 1

func putSpan(d time.Duration) int64 { return int64(min(d, MaxSpan)) }

func getSpan(field string, n int64) (time.Duration, error) {
	return time.Duration(n), span(field, time.Duration(min(n, int64(MaxSpan)+1)))
}

func span(field string, d time.Duration) error {
	if d < 0 || d > MaxSpan {
		return fmt.Errorf("%s %v: %w: want 0 to %v", field, d, ErrBound, MaxSpan)
	}
	return nil
}

// check returns an error for anything in m that no peer would accept, both when encoding and when decoding. What
// only decoding can find is found there.
func check(m *grid.Message) error {
	switch m.Kind {
	case grid.KindDigest:
		return entries(m.Digest, 0, grid.MaxAds)
	case grid.KindBye:
		return entries(m.Digest, 1, 1)
	case grid.KindPoll:
		p := &m.Poll
		return first(text("class", p.Class, grid.MaxClass), resources("needs", p.Needs), pollOptions(p.Options),
			partner(p.Rates, p.Speed, p.Cores))
	case grid.KindWaiting, grid.KindPull, grid.KindNoWork:
		return resources("needs", m.Poll.Needs)
	case grid.KindState:
		s := &m.State
		return first(spans("ect", s.ECT, "backlog", s.Backlog), spans("ran", s.Ran, "rest", s.Rest), queue(s), quote(s),
			optionStates(s.Options), resources("free", s.Free), partner(s.Rates, s.Speed, s.Cores))
	case grid.KindOffer:
		return offer(&m.Offer)
	case grid.KindRefuse:
		return first(attempts(m.Attempts, 1, 1), prices(m.Prices))
	case grid.KindAccept, grid.KindResultAck, grid.KindDepositAck, grid.KindVacate:
		return attempts(m.Attempts, 1, 1)
	case grid.KindResult:
		return first(attempts(m.Attempts, 1, 1), result(m.Result))
	case grid.KindDeposit:
		if m.Result == nil {
			return attempts(m.Attempts, 1, 1)
		}
		return first(attempts(m.Attempts, 1, 1), result(m.Result))
	case grid.KindBeat:
		return first(attempts(m.Attempts, 0, grid.MaxBeats), reports(m))
	case grid.KindDrop, grid.KindAsk:
		return attempts(m.Attempts, 0, grid.MaxBeats)
	case grid.KindWrite, grid.KindWriteAck, grid.KindCampaign, grid.KindVote, grid.KindKeepalive, grid.KindKeepaliveAck,
		grid.KindTakeover, grid.KindStartLease, grid.KindStartLeaseAck, grid.KindAwait, grid.KindAwaited:
		return registerBody(m.Kind, m)
	case grid.KindReserve, grid.KindReserveAck:
		return reserve(m.Reserve)
	case grid.KindCheckpoint, grid.KindCheckpointAck, grid.KindCheckpointKeep:
		return first(attempts(m.Attempts, 1, 1), checkpoint(m.Checkpoint))
	case grid.KindMiss:
		return find(m.Kind, &m.Find)
	case grid.KindFind, grid.KindCall:
		return first(find(m.Kind, &m.Find), entries(m.Digest, 0, 1))
	case grid.KindHit:
		return first(find(m.Kind, &m.Find), entries(m.Digest, 1, 1))
	}
	return nil
}

// queue bounds what an answer says of a queue.
func queue(s *grid.State) error {
	if s.Waiting < 0 || s.Waiting > grid.MaxCount || s.Running < 0 || s.Running > grid.MaxCount {
		return fmt.Errorf("queue of %d and %d: %w: want 0 to %d", s.Waiting, s.Running, ErrBound, grid.MaxCount)
	}
	return nil
}

func entries(es []grid.AdEntry, least, most int) error {
	if len(es) < least || len(es) > most {
		return fmt.Errorf("%d ads: %w: want %d to %d", len(es), ErrBound, least, most)
	}
	for _, e := range es {
		if e.Ad == nil || e.Hops > grid.MaxHops {
			return fmt.Errorf("ad after %d hops: %w: want an ad and at most %d", e.Hops, ErrBound, grid.MaxHops)
		}
	}
	return nil
}

// partner checks what both sides of a poll state of themselves.
func partner(rates []grid.Rate, speed float64, cores grid.MilliCPU) error {
	if !(speed >= 0 && speed <= 1e6) || cores < 0 || cores > grid.MaxMillis {
		return fmt.Errorf("speed %g, cores %d: %w: want 0 to 1e6 and 0 to %d", speed, cores, ErrBound, grid.MaxMillis)
	}
	return bound(grid.CheckRates(rates))
}

func resources(field string, r grid.Resources) error {
	if r.CPU < 0 || r.CPU > grid.MaxMillis || r.Memory < 0 || r.Memory > grid.MaxMemory ||
		!r.Counts.Valid() {
		return fmt.Errorf("%s %v: %w", field, r, ErrBound)
	}
	return nil
}

func offer(o *grid.Offer) error {
	if o.Spec == nil {
		return fmt.Errorf("spec: %w: is missing", ErrMalformed)
	}
	if err := bound(o.Spec.Check()); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	if tasks := o.Spec.TasksOf(o.ID.Attempt); o.ID.Task.Index >= tasks {
		return fmt.Errorf("task %d of %d: %w", o.ID.Task.Index, tasks, ErrBound)
	}
	if !o.Spec.ValidOption(o.Option) {
		return fmt.Errorf("option %d of %d: %w", o.Option, len(o.Spec.Needs.Options), ErrBound)
	}
	if o.Lease > grid.MaxTimeout {
		return fmt.Errorf("lease %v: %w: want at most %v", o.Lease, ErrBound, grid.MaxTimeout)
	}
	if len(o.Members) > grid.MaxMembers {
		return fmt.Errorf("%d members: %w: want at most %d", len(o.Members), ErrBound, grid.MaxMembers)
	}
	if len(o.Barred) > grid.MaxBarred {
		return fmt.Errorf("%d barred nodes: %w: want at most %d", len(o.Barred), ErrBound, grid.MaxBarred)
	}
	if err := first(left(o.Inputs), bound(o.Spec.CheckPlaces(o.ID.Attempt, o.Places))); err != nil {
		return err
	}
	if b := &o.Before; b.Ranks > grid.MaxRanks || len(b.Shares) > 0 && len(b.Shares) != int(b.Ranks) {
		return fmt.Errorf("%d shares of %d ranks before: %w: want one for each, or none, and at most %d", len(b.Shares),
			b.Ranks, ErrBound, grid.MaxRanks)
	}
	if !grid.ValidClass(o.Class) {
		return fmt.Errorf("class %.64q: %w: want that of a job, at most %d bytes of printable text", o.Class, ErrBound,
			grid.MaxClass)
	}
	return spans("lease", o.Lease, "age", o.Age)
}

func result(r *grid.Result) error {
	if r == nil {
		return fmt.Errorf("result: %w: is missing", ErrMalformed)
	}
	if r.Cause == 0 || int(r.Cause) >= grid.Causes || r.MaxRSS < 0 {
		return fmt.Errorf("cause %d, memory %d: %w: want 1 to %d and not less than 0", r.Cause, r.MaxRSS, ErrBound,
			grid.Causes-1)
	}
	for _, o := range [...]*grid.Output{&r.Stdout, &r.Stderr} {
		if len(o.Inline) > int(grid.MaxInline) || o.Size < 0 || o.Dropped < 0 {
			return fmt.Errorf("output of %d bytes, %d inline, %d dropped: %w: want at most %d inline", o.Size, len(o.Inline),
				o.Dropped, ErrBound, grid.MaxInline)
		}
	}
	if len(r.Outputs) > grid.MaxFiles {
		return fmt.Errorf("%d outputs: %w: want at most %d", len(r.Outputs), ErrBound, grid.MaxFiles)
	}
	for i := range r.Outputs {
		if f := &r.Outputs[i]; !grid.Inside(f.Path) || f.Blob.IsZero() || f.Size < 0 {
			return fmt.Errorf("output %.64q of %d bytes: %w: want a path inside the work folder and a content", f.Path, f.Size,
				ErrBound)
		}
	}
	if r.Next != "" && r.Cause != grid.Lost {
		return fmt.Errorf("next class %.64q of cause %d: %w: want it only where the task was stopped", r.Next, r.Cause,
			ErrBound)
	}
	return first(spans("waited", r.Waited, "wall", r.Wall), spans("cpu", r.CPU, "", 0),
		text("next", r.Next, grid.MaxClass))
}

// find checks a search. Its answer need not repeat the request.
func find(k grid.Kind, f *grid.Find) error {
	asks := k == grid.KindFind || k == grid.KindCall
	if asks && f.Asker.IsZero() {
		return fmt.Errorf("asker: %w: is missing", ErrBound)
	}
	if asks || f.Needs.CPU != 0 || f.Needs.Memory != 0 || len(f.Needs.Labels) > 0 {
		if err := bound(f.Needs.Check()); err != nil {
			return err
		}
	}
	if f.Left > grid.MaxHops || f.Hops > grid.MaxHops || len(f.Visited) > grid.MaxVisited {
		return fmt.Errorf("%d hops left, %d gone, %d visited: %w: want at most %d, %d and %d",
			f.Left, f.Hops, len(f.Visited), ErrBound, grid.MaxHops, grid.MaxHops, grid.MaxVisited)
	}
	return first(text("engine", f.Engine, grid.MaxClass), spans("within", f.Within, "", 0))
}

// spans rejects negative durations; too long ones are cut when encoding and rejected when decoding.
func spans(a string, x time.Duration, b string, y time.Duration) error {
	return first(span(a, min(x, MaxSpan)), span(b, min(y, MaxSpan)))
}

func text(field, s string, most int) error {
	if len(s) > most || !grid.Printable(s) {
		return fmt.Errorf("%s %.64q: %w: want at most %d bytes of printable text", field, s, ErrBound, most)
	}
	return nil
}

// cleanText returns a decoded text as it may be displayed. Text that another version takes for printable is cleaned
// and not refused: a node that forwards it is not to blame. No version lets a control character of ASCII through,
// so that one is left for the checks.
func cleanText(s string) string {
	if grid.Printable(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return s
	}
	return grid.Clean(s, len(s))
}

func cleanTexts(list []string) []string {
	for i := range list {
		list[i] = cleanText(list[i])
	}
	return list
}

// clean makes a text fit for an error or detail.
func clean(s string) string { return grid.Clean(s, grid.MaxText) }

// bound marks an error of package grid's own checks, and bounds its text: it may quote what a peer sent.
func bound(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrBound, clean(err.Error()))
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
