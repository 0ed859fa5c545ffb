package jobs

import (
	"strings"
	"testing"
	"time"

	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

func TestSince(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	now := time.Date(2026, 11, 27, 15, 30, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"2h": now.Add(-2 * time.Hour), "90m": now.Add(-90 * time.Minute), "0s": now,
		"3d": now.Add(-72 * time.Hour), "1.5d": now.Add(-36 * time.Hour),
		"2026-11-27":           time.Date(2026, 11, 27, 0, 0, 0, 0, zone),
		"2026-11-27T14:00":     time.Date(2026, 11, 27, 14, 0, 0, 0, zone),
		"2026-11-27 14:00:05":  time.Date(2026, 11, 27, 14, 0, 5, 0, zone),
		"2026-11-27T10:00:00Z": time.Date(2026, 11, 27, 12, 0, 0, 0, zone),
	} {
		f := Filter{Limit: 1, Since: text}
		if q, err := f.Query(now); err != nil || !q.Since.Equal(want) {
			t.Errorf("--since %s: %v, %v: want %v", text, q.Since, err, want)
		}
	}
}

func TestBadFilters(t *testing.T) {
	now := time.Date(2026, 11, 27, 15, 30, 0, 0, time.UTC)
	for _, tc := range []struct {
		f    Filter
		want string
	}{
		{Filter{}, "--limit 0: want 1 or more"},
		{Filter{Limit: 1, State: "done,lost"},
			`--state "lost": want one or more of pending, running, done, failed, cancelled, held, with commas between them`},
		{Filter{Limit: 1, State: ","}, `--state "": want one or more of`},
		{Filter{Limit: 1, Since: "yesterday"}, `--since "yesterday": want a length of time, as in 2h or 3d, or a date`},
		{Filter{Limit: 1, Since: "-2h"}, `--since "-2h": want a length of time`},
		{Filter{Limit: 1, Since: "d"}, `--since "d": want a length of time`},
		{Filter{Limit: 1, Since: "99999d"}, `want a length of time`},
		{Filter{Limit: 1, Since: "2026-11-28"}, `--since "2026-11-28": lies in the future`},
		{Filter{Limit: 1, Since: "1899-01-01"}, `want a length of time`},
		{Filter{Limit: 1, Pattern: "[a"}, `name pattern "[a": want a shell pattern`},
		{Filter{Limit: 1, Pattern: strings.Repeat("a", 300)}, "a pattern of 300 bytes: want at most 256"},
	} {
		if _, err := tc.f.Query(now); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v: want %q", tc.f, err, tc.want)
		}
	}
}

func TestQueryOfAFilter(t *testing.T) {
	f := Filter{Pattern: "train-*", Mine: true, State: "failed, done", Limit: 7}
	q, err := f.Query(time.Now())
	if want := (client.ListQuery{Grid: true, Name: "train-*", Mine: true, State: "done,failed"}); err != nil || q != want {
		t.Errorf("%+v, %v: want %+v", q, err, want)
	}
}

func TestNotes(t *testing.T) {
	some := v1.JobPage{Jobs: make([]v1.ListedJob, 3)}
	silent := some
	silent.Asked, silent.Silent = 7, []string{"a", "b"}
	old := v1.JobPage{Jobs: make([]v1.ListedJob, 3)}
	old.Jobs[1].Behind = true
	more := some
	more.More = true
	full := v1.JobPage{Jobs: make([]v1.ListedJob, 1000), More: true}
	for _, tc := range []struct {
		f    Filter
		p    v1.JobPage
		want string
	}{
		{Filter{}, some, ""},
		{Filter{}, silent, "2 of 7 other nodes did not answer: jobs that only they know are missing"},
		{Filter{}, old, "1 job may be further than is shown: who decides about that did not answer"},
		{Filter{}, more, "only the newest 3: see --limit"},
		{Filter{}, full, "only the newest 1000, which is the most of all nodes; of one node, --here has more"},
		{Filter{Here: true}, full, "only the newest 1000: see --limit"},
		{Filter{}, v1.JobPage{}, "no jobs: submit one with skep run or skep job submit"},
		{Filter{Here: true}, v1.JobPage{}, "no jobs here: submit one with skep run or skep job submit; without --here the " +
			"jobs of all nodes are listed"},
		{Filter{Pattern: "x"}, v1.JobPage{}, "no such jobs"},
	} {
		if got := strings.Join(tc.f.Notes(&tc.p), "; "); got != tc.want {
			t.Errorf("%+v of %d jobs: %q: want %q", tc.f, len(tc.p.Jobs), got, tc.want)
		}
	}
}
