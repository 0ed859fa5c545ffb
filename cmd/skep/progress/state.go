package progress

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/mattn/go-runewidth"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// Unit is what Done and Total of a State count.
type Unit uint8

// Units.
const (
	Share Unit = iota // parts of a whole, shown in percent
	Bytes
	Tasks
	Own // the task's own unit
)

// State is how far some work is.
type State struct {
	What        string // what work it is, for the beginning of the line
	Unit        Unit
	Done, Total float64 // Total 0 = not known
	Tasks       Counts
	Text        string
	Idle        bool // there is nothing to show
}

// Counts are the tasks of a job that have not ended, and of those that have, the ones that failed.
type Counts struct{ Running, Waiting, Failed int }

// OfJob returns the state of a job; t is its one task, nil if it has more or that is not known.
func OfJob(j *v1.Job, t *v1.Task) State {
	s := State{What: "job " + j.ID[:min(len(j.ID), 8)]}
	if j.Count != 1 {
		s.Unit, s.Done, s.Total = Tasks, float64(j.Ended), float64(j.Count)
		running := j.Running
		if j.Queued+j.Running != j.Placed { // of a node that does not tell them apart
			running = j.Placed
		}
		s.Tasks = Counts{Running: running, Waiting: j.Count - j.Ended - running, Failed: j.Failed}
		return s
	}
	switch {
	case j.Ended == 1 || t == nil && j.Pending == 0:
		s.Idle = true
	case j.Pending == 1:
		s.Text = "waits for a node"
	case t.Phase == v1.PhaseQueued:
		s.Text = "waits at " + nodeName(t)
	case t.Progress == nil || t.Phase != v1.PhaseRunning || *t.Progress == (v1.Progress{Rejected: t.Progress.Rejected}):
		s.Idle = true
	default:
		p := t.Progress
		s.Unit, s.Done, s.Total, s.Text = Own, p.Done, p.Total, p.Text
	}
	return s
}

// Text says in a few words what a task says of itself.
func Text(p *v1.Progress) string {
	s := State{Unit: Own, Done: p.Done, Total: p.Total, Text: p.Text}
	words := []string{s.amount()}
	if share, known := s.share(); known {
		words[0] += fmt.Sprintf(" (%.0f %%)", 100*share)
	}
	words = append(words, grid.Clean(p.Text, len(p.Text)))
	if p.Rejected > 0 {
		words = append(words, english.Plural(int(p.Rejected), "line", "")+" of $SKEP_PROGRESS not understood")
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), ", ")
}

func nodeName(t *v1.Task) string {
	if t.Name != "" {
		return t.Name
	}
	return "node " + t.Node[:min(len(t.Node), 8)]
}

// share returns the part of the work that is done, 0 to 1; false if that is not known.
func (s *State) share() (float64, bool) {
	if s.Total <= 0 {
		return 0, false
	}
	return min(s.Done/s.Total, 1), true
}

// amount is how much is done.
func (s *State) amount() string {
	share, known := s.share()
	switch {
	case s.Unit == Share && known:
		return fmt.Sprintf("%.0f %%", 100*share)
	case s.Unit == Share:
		return ""
	case s.Unit == Bytes:
		return humanize.IBytes(uint64(s.Done)) + " of " + humanize.IBytes(uint64(s.Total))
	case !known && s.Done == 0:
		return ""
	case !known:
		return number(s.Done)
	}
	return number(s.Done) + " of " + number(s.Total)
}

func number(x float64) string {
	if x == float64(int64(x)) {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// part is a part of the line. The least important ones are left out first where there is no room.
type part struct {
	text string
	rank int // 0 is the most important
}

func (s *State) parts(left time.Duration) []part {
	count := func(n int, word string, rank int) part {
		if n == 0 {
			return part{}
		}
		return part{strconv.Itoa(n) + " " + word, rank}
	}
	parts := []part{{s.amount(), 0}, count(s.Tasks.Running, "running", 3), count(s.Tasks.Waiting, "waiting", 4),
		count(s.Tasks.Failed, "failed", 1)}
	if left > 0 {
		parts = append(parts, part{Age(max(left.Round(time.Second), time.Second)) + " left", 2})
	}
	return append(parts, part{grid.Clean(s.Text, len(s.Text)), 5})
}

// line joins the parts that there is room for, in columns; a text that has too little is cut.
func (s *State) line(left time.Duration, room int) string {
	parts := s.parts(left)
	kept := make([]string, len(parts))
	for rank := 0; rank <= 5 && room > 0; rank++ {
		for i, p := range parts {
			if p.rank != rank || p.text == "" {
				continue
			}
			width := runewidth.StringWidth(p.text)
			if width > room && rank == 5 && room >= 8 {
				p.text = runewidth.Truncate(p.text, room, "…")
				width = room
			}
			if width <= room {
				kept[i], room = p.text, room-width-2
			}
		}
	}
	var b strings.Builder
	for _, text := range kept {
		if text != "" && b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text)
	}
	return b.String()
}

// Age formats a time of some seconds or more in about two digits.
func Age(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
