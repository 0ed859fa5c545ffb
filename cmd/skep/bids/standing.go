package bids

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize/english"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// Bid says what a job bids.
func Bid(s *v1.Spec) string {
	if s == nil || s.Priority == nil {
		return fmt.Sprint("bid ", grid.UsualBid.Number())
	}
	return fmt.Sprint("bid ", *s.Priority)
}

// PrintStanding prints what the node of a task has said of where it stands there, and since when it is too late.
func PrintStanding(w io.Writer, indent string, t *v1.TaskStory, submitted time.Time) {
	late := ""
	if x := t.TooLate; x != nil {
		late = fmt.Sprintf("its deadline cannot be met since %v after the submission: %s",
			x.Since.Sub(submitted).Round(time.Second/10), x.Why)
	}
	for _, text := range [...]string{LineText(&t.Task), SuspensionText(&t.Task), late} {
		if text != "" {
			fmt.Fprintf(w, "%s%s\n", indent, text)
		}
	}
}

// LineText says where a queued task stands at its node; "" = the node has not said it.
func LineText(t *v1.Task) string {
	l := t.Line
	if l == nil {
		return ""
	}
	before := "nothing waits before it"
	switch {
	case l.Before == nil: // the node tells no places of what is not ready to start
		before = fmt.Sprintf("has no place in line yet, or not among the next %d", l.More)
	case *l.Before > 0:
		before = fmt.Sprintf("%d before it", *l.Before)
	}
	return fmt.Sprintf("in line there by order %s: %s%s", l.Order, before, told(l.Told))
}

// SuspensionText says how a task was suspended, and for whom; "" = it was not, or its node has not said it.
func SuspensionText(t *v1.Task) string {
	s := t.Suspensions
	if s == nil {
		return ""
	}
	is, last := "suspended", ""
	if t.Phase != v1.PhaseSuspended {
		is, last = "was suspended", ", the last time"
	}
	stood := grid.Seconds(s.Stood)
	if stood > time.Second {
		stood = stood.Round(time.Second / 10)
	}
	return fmt.Sprintf("%s%s for job %s, which bids %g: %s, %v in all%s", is, last, v1.Short(s.Job), s.Priority,
		english.Plural(int(s.Times), "time", ""), stood.Round(time.Millisecond), told(s.Told))
}

func told(at time.Time) string {
	return fmt.Sprintf(" (told %v ago)", max(time.Since(at), 0).Round(time.Second/10))
}
