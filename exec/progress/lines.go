package progress

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"

	"skep/grid"
)

const (
	maxLine = 512 // bytes; a longer line says no progress

	// maxParsed bounds the bytes that are looked at in a second. What comes beyond is dropped unread: looking at all
	// that a task can write would cost the node a core.
	maxParsed = 64 << 10
)

// lines turns what a task writes into its progress, at most once in grid.ProgressEvery.
type lines struct {
	part    []byte // of a line that is not complete
	passing bool   // the rest of the line is passed over: it is too long, or its beginning was not looked at
	parsed  int    // bytes since begun
	begun   time.Time

	last    grid.Progress
	waiting bool      // last was not told
	told    time.Time // when something was told last

	closed     []uint64  // checkpoints that were not told, ascending
	newest     uint64    // of all
	toldClosed time.Time // when some were told last
}

// closedEvery is the shortest time between two times that checkpoints are told. Of those closed meanwhile the newest
// grid.MaxClosed are. Lower costs the node more where a program closes them without end; higher makes each older.
const closedEvery = 100 * time.Millisecond

// add takes what was read.
func (l *lines) add(now time.Time, b []byte) {
	if now.Sub(l.begun) >= time.Second {
		l.begun, l.parsed = now, 0
	}
	if l.parsed >= maxParsed {
		l.passing, l.part = true, l.part[:0]
		return
	}
	l.parsed += len(b)
	for len(b) > 0 {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		b = rest
		if room := maxLine - len(l.part); len(line) > room {
			l.passing = true
		} else if !l.passing {
			l.part = append(l.part, line...)
		}
		if whole {
			l.end()
		}
	}
}

// end takes a line.
func (l *lines) end() {
	p, ok := parse(string(l.part))
	rejected := l.last.Rejected
	if k := checkpoint(string(l.part)); k > l.newest && !l.passing {
		if l.newest, l.closed = k, append(l.closed, k); len(l.closed) > grid.MaxClosed {
			l.closed = l.closed[1:]
		}
		l.part = l.part[:0]
		return
	}
	switch {
	case ok && !l.passing:
		l.last = p
	case rejected < math.MaxUint32:
		rejected++
	}
	l.last.Rejected, l.waiting = rejected, true
	l.part, l.passing = l.part[:0], false
}

// due returns what is to be told now; else the time at which something is, zero if nothing waits.
func (l *lines) due(now time.Time) (p grid.Progress, tell bool, next time.Time) {
	if !l.waiting {
		return p, false, next
	}
	if at := l.told.Add(grid.ProgressEvery); now.Before(at) {
		return p, false, at
	}
	l.waiting, l.told = false, now
	return l.last, true, next
}

// dueClosed returns the checkpoints that are to be told now; else the time at which some are, zero if there are none.
func (l *lines) dueClosed(now time.Time) (steps []uint64, next time.Time) {
	if len(l.closed) == 0 {
		return nil, next
	}
	if at := l.toldClosed.Add(closedEvery); now.Before(at) {
		return nil, at
	}
	steps, l.closed, l.toldClosed = l.closed, nil, now
	return steps, next
}

// checkpoint returns the number of a line about a checkpoint; 0 = it is none.
func checkpoint(line string) uint64 {
	word, rest := cutWord(line)
	number, rest := cutWord(rest)
	k, err := strconv.ParseUint(number, 10, 64)
	if word != "checkpoint" || err != nil || k > grid.MaxCheckpointStep || strings.TrimSpace(rest) != "" {
		return 0
	}
	return k
}

// parse parses a line without its end.
func parse(line string) (p grid.Progress, ok bool) {
	word, rest := cutWord(line)
	done, rest := cutWord(rest)
	total, text := cutWord(rest)
	if word != "progress" {
		return p, false
	}
	if p.Done, ok = number(done); !ok {
		return p, false
	}
	if p.Total, ok = number(total); !ok {
		return p, false
	}
	p.Text = strings.TrimSpace(grid.Clean(strings.TrimSpace(text), grid.MaxProgressText))
	return p, p.Check() == nil
}

// cutWord returns the first word of a line, and what follows.
func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t\r")
	if at := strings.IndexAny(s, " \t\r"); at >= 0 {
		return s[:at], s[at:]
	}
	return s, ""
}

// number parses a number of digits with at most one point.
func number(s string) (float64, bool) {
	if strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil
}
