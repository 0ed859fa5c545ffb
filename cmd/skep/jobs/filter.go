package jobs

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/pflag"

	"skep/node/api/client"
	v1 "skep/node/api/v1"
	"skep/node/listing"
)

// Filter is what the command line says of the jobs to list.
type Filter struct {
	Pattern string // a shell pattern of the name; "" = any
	Here    bool
	Mine    bool
	State   string
	Since   string
	Limit   int
}

// AddFlags adds the flags of a filter.
func (f *Filter) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&f.Here, "here", false, "only jobs that were submitted to this node, or that it owns: no other is asked")
	flags.BoolVar(&f.Mine, "mine", false, "only jobs that you submitted at this node, by your login name there")
	flags.IntVar(&f.Limit, "limit", 50, "how many at most")
	flags.StringVar(&f.State, "state", "", "only those that are "+strings.Join(listing.StateNames(), ", ")+
		"; several with commas")
	flags.StringVar(&f.Since, "since", "", "only those submitted since then: 2h, 3d, 2026-11-27 or 2026-11-27T14:00")
}

// Query returns the request for the jobs; now is the time of the command. An error names the flag, the value and what
// would be right.
func (f *Filter) Query(now time.Time) (client.ListQuery, error) {
	q := client.ListQuery{Grid: !f.Here, Name: f.Pattern, Mine: f.Mine}
	if f.Limit < 1 {
		return q, fmt.Errorf("--limit %d: want 1 or more", f.Limit)
	}
	states, err := listing.ParseStates(f.State)
	if err != nil {
		return q, fmt.Errorf("--state %w", err)
	}
	q.State = states.String()
	if f.Since != "" {
		if q.Since, err = ParseSince(f.Since, now); err != nil {
			return q, err
		}
	}
	all := listing.Query{Limit: 1, Name: f.Pattern}
	return q, all.Check()
}

// dates are the forms of a time, in the user's time zone where they do not say one.
var dates = []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// ParseSince reads a value of --since: a length of time before now, or a time.
func ParseSince(text string, now time.Time) (time.Time, error) {
	at, ok := now, false
	if days, found := strings.CutSuffix(text, "d"); found {
		n, err := strconv.ParseFloat(days, 64)
		ok = err == nil && n >= 0 && n <= 36500
		at = now.Add(-time.Duration(n * 24 * float64(time.Hour)))
	} else if d, err := time.ParseDuration(text); err == nil {
		at, ok = now.Add(-d), d >= 0
	} else if t, err := time.Parse(time.RFC3339, text); err == nil {
		at, ok = t, true
	}
	for i := 0; i < len(dates) && !ok; i++ {
		if t, err := time.ParseInLocation(dates[i], text, now.Location()); err == nil {
			at, ok = t, true
		}
	}
	switch {
	case !ok || at.Unix() < 0:
		return at, fmt.Errorf("--since %.40q: want a length of time, as in 2h or 3d, or a date, as in 2026-11-27 or "+
			"2026-11-27T14:00", text)
	case at.After(now):
		return at, fmt.Errorf("--since %.40q: lies in the future: want a time until now", text)
	}
	return at, nil
}

// List returns the jobs that a filter selects, up to its limit: of the grid at most listing.MaxRows.
func (f *Filter) List(ctx context.Context, c *client.Client) (v1.JobPage, error) {
	q, err := f.Query(time.Now())
	if err != nil {
		return v1.JobPage{}, err
	}
	if q.Grid {
		q.Limit = min(f.Limit, listing.MaxRows)
		return c.List(ctx, &q)
	}
	all := v1.JobPage{Jobs: []v1.ListedJob{}}
	for len(all.Jobs) < f.Limit {
		q.Limit, q.After = min(f.Limit-len(all.Jobs), listing.MaxRows), all.Next
		p, err := c.List(ctx, &q)
		if err != nil {
			return all, err
		}
		all.Jobs, all.Next = append(all.Jobs, p.Jobs...), p.Next
		if p.Next == "" {
			break
		}
	}
	all.More = all.Next != ""
	return all, nil
}

// Notes returns what the user should know about a list beside the jobs in it.
func (f *Filter) Notes(p *v1.JobPage) (notes []string) {
	if n := len(p.Silent); n > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d other nodes did not answer: jobs that only they know are missing", n,
			p.Asked))
	}
	behind := 0
	for i := range p.Jobs {
		if p.Jobs[i].Behind {
			behind++
		}
	}
	if behind > 0 {
		notes = append(notes, fmt.Sprintf("%s may be further than is shown: who decides about that did not answer",
			english.Plural(behind, "job", "")))
	}
	switch {
	case len(p.Jobs) == 0 && f.selects():
		notes = append(notes, "no such jobs")
	case len(p.Jobs) == 0 && f.Here:
		notes = append(notes, "no jobs here: submit one with skep run or skep job submit; without --here the jobs of all "+
			"nodes are listed")
	case len(p.Jobs) == 0:
		notes = append(notes, "no jobs: submit one with skep run or skep job submit")
	case p.More && !f.Here && len(p.Jobs) == listing.MaxRows:
		notes = append(notes, fmt.Sprintf("only the newest %d, which is the most of all nodes; of one node, --here has more",
			len(p.Jobs)))
	case p.More:
		notes = append(notes, fmt.Sprintf("only the newest %d: see --limit", len(p.Jobs)))
	}
	return notes
}

// selects reports whether some jobs are left out by what they are.
func (f *Filter) selects() bool { return f.Pattern != "" || f.Mine || f.State != "" || f.Since != "" }
