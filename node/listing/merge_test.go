package listing

import (
	"fmt"
	"strings"
	"testing"

	"skep/grid"
)

func node(b byte) grid.NodeID { return grid.NodeID{b} }

// job is a job of origin o, submitted at second n.
func job(o byte, n byte) Row {
	r := Row{ID: grid.JobID{Origin: node(o)}, Name: fmt.Sprintf("job%d", n), Access: grid.AccessMembers,
		Submitted: int64(n) * 1e9, Counts: Counts{Count: 4, Pending: 4}, Leads: true}
	r.ID.Nonce[0] = n
	return r
}

// with changes a row.
func (r Row) with(f func(*Row)) Row { f(&r); return r }

// kept is the row of a member whose owner is another node.
func kept(r Row, owner byte, epoch uint32, ended int, members ...byte) Row {
	r.Leads, r.Owner, r.Epoch, r.Pending, r.Placed, r.Ended = false, node(owner), epoch, 0, r.Count-ended, ended
	for _, m := range members {
		r.Members = append(r.Members, node(m))
	}
	return r
}

func leads(r Row) Row { r.Leads = true; return r }

// says formats a list: name, ended tasks, whose word, and ? if it may be behind.
func says(list []Entry) string {
	var s []string
	for i := range list {
		e := &list[i]
		text := fmt.Sprintf("%s:%d@%d", e.Name, e.Ended, e.By[0])
		if e.Behind {
			text += "?"
		}
		s = append(s, text)
	}
	return strings.Join(s, " ")
}

func TestWhoseWordCounts(t *testing.T) {
	a := job(1, 1) // of node 1; nodes 1, 2 and 3 are members of its register; 9 asks
	for _, tc := range []struct {
		what string
		told []Answer
		want string
	}{
		{"the origin leads: replicas are behind", []Answer{{By: node(2), Rows: []Row{kept(a, 1, 1, 1, 1, 2, 3)}},
			{By: node(1), Rows: []Row{leads(kept(a, 1, 1, 2, 1, 2, 3))}}}, "job1:2@1"},
		{"the origin names another owner", []Answer{{By: node(1), Rows: []Row{kept(a, 2, 2, 1, 1, 2, 3)}},
			{By: node(2), Rows: []Row{leads(kept(a, 2, 2, 3, 1, 2, 3))}}}, "job1:3@2"},
		{"the owner that the origin names does not answer: who knows most of the newest epoch",
			[]Answer{{By: node(1), Rows: []Row{kept(a, 2, 2, 1, 1, 2, 3)}},
				{By: node(3), Rows: []Row{kept(a, 2, 2, 2, 1, 2, 3)}}}, "job1:2@3?"},
		{"the origin is gone: its owner after the takeover",
			[]Answer{{By: node(2), Rows: []Row{leads(kept(a, 2, 2, 3, 1, 2, 3))}},
				{By: node(3), Rows: []Row{kept(a, 2, 2, 1, 1, 2, 3)}}}, "job1:3@2"},
		{"the origin is gone, no takeover yet: a replica", []Answer{{By: node(3), Rows: []Row{kept(a, 1, 1, 1, 1, 2, 3)}}},
			"job1:1@3?"},
		{"an end is final, whoever tells of it", []Answer{{By: node(3), Rows: []Row{kept(a, 1, 1, 4, 1, 2, 3)}}}, "job1:4@3"},
		{"one who leads an older epoch counts less than one who leads a newer one",
			[]Answer{{By: node(2), Rows: []Row{leads(kept(a, 2, 2, 3, 1, 2, 3))}},
				{By: node(3), Rows: []Row{leads(kept(a, 3, 3, 2, 1, 2, 3))}}}, "job1:2@3"},

		{"invented: the origin answers and has no such job", []Answer{{By: node(1)},
			{By: node(7), Rows: []Row{leads(a)}}}, ""},
		{"the origin left out older jobs than one that it tells of: this is one of them",
			[]Answer{{By: node(1), Rows: []Row{job(1, 5)}, More: true}, {By: node(2), Rows: []Row{leads(kept(a, 2, 2, 1))}}},
			"job5:0@1 job1:1@2"},
		{"the origin would have told of one that is newer", []Answer{{By: node(1), Rows: []Row{a}, More: true},
			{By: node(7), Rows: []Row{job(1, 5)}}}, "job1:0@1"},
		{"a node that is no member claims to own it, and the origin answers",
			[]Answer{{By: node(7), Rows: []Row{leads(kept(a, 7, 99, 4, 7))}},
				{By: node(1), Rows: []Row{kept(a, 2, 2, 1, 1, 2, 3)}}}, "job1:1@1?"},
		{"a node that is no member claims to own it, and the asker is a member",
			[]Answer{{By: node(7), Rows: []Row{leads(kept(a, 7, 99, 4, 7))}},
				{By: node(9), Rows: []Row{kept(a, 1, 1, 1, 1, 9, 3)}}}, "job1:1@9?"},
		{"one node answers once", []Answer{{By: node(1), Rows: []Row{a, a}}, {By: node(1)}}, "job1:0@1"},
	} {
		list, more := Merge(&Query{Limit: 10}, node(9), tc.told)
		if got := says(list); got != tc.want || more != (strings.Contains(tc.what, "left out") || strings.Contains(tc.what,
			"would have")) {
			t.Errorf("%s: %s, more %v: want %s", tc.what, got, more, tc.want)
		}
	}
}

// What the origin signed does not change in another's mouth.
func TestOriginsWordForWhatDoesNotChange(t *testing.T) {
	a := job(1, 1).with(func(r *Row) { r.Submitter = grid.Submitter{Node: node(1), User: "ann"}; r.Class = "c" })
	b := leads(kept(a, 2, 2, 3, 1, 2)).with(func(r *Row) {
		r.Name, r.Submitter.User, r.Class, r.Submitted, r.Count = "other", "bob", "d", 1, 3
	})
	list, _ := Merge(&Query{Limit: 9}, node(9), []Answer{{By: node(1), Rows: []Row{kept(a, 2, 2, 1, 1, 2)}},
		{By: node(2), Rows: []Row{b}}})
	if len(list) != 1 || list[0].Name != "job1" || list[0].Submitter.User != "ann" || list[0].Class != "c" ||
		list[0].Count != 4 || list[0].Submitted != a.Submitted || list[0].Ended != 3 {
		t.Errorf("%+v: want the owner's counts and the rest as the origin says", list)
	}
	secret := a.with(func(r *Row) { r.Access, r.Exit = grid.AccessOwner, 3 })
	list, _ = Merge(&Query{Limit: 9}, node(9), []Answer{{By: node(1), Rows: []Row{kept(secret, 2, 2, 1, 1, 2)}},
		{By: node(2), Rows: []Row{leads(kept(a, 2, 2, 3, 1, 2))}}})
	if len(list) != 1 || list[0].Class != "" || list[0].Owner != (grid.NodeID{}) {
		t.Errorf("%+v: want nothing that is for whoever has the capability", list)
	}
}

func TestNewestFirstUpToTheLimit(t *testing.T) {
	told := []Answer{{By: node(1), Rows: []Row{job(1, 6), job(1, 3)}}, {By: node(2), Rows: []Row{job(2, 5), job(2, 4)}}}
	list, more := Merge(&Query{Limit: 3}, node(9), told)
	if got := says(list); got != "job6:0@1 job5:0@2 job4:0@2" || !more {
		t.Errorf("%s, more %v: want the newest three of four", got, more)
	}
}

func TestQuery(t *testing.T) {
	r := job(1, 5).with(func(r *Row) { r.Name = "train/a[1]" })
	id := r.ID.String()
	for _, tc := range []struct {
		q    Query
		want bool
	}{
		{Query{}, true},
		{Query{Name: "train*"}, true}, {Query{Name: "train/?[[]1]"}, true}, {Query{Name: `train/a\[1\]`}, true},
		{Query{Name: "train"}, false}, {Query{Name: "TRAIN*"}, false},
		{Query{Since: 5e9}, true}, {Query{Since: 5e9 + 1}, false},
		{Query{States: 1 << Pending}, true}, {Query{States: 1<<Done | 1<<Pending}, true},
		{Query{States: 1 << Running}, false},
		{Query{Ref: id[:6]}, true}, {Query{Ref: id}, true}, {Query{Ref: id[:16] + "-" + id[17:20]}, true},
		{Query{Ref: id[:3]}, false}, {Query{Ref: "train/a[1]"}, true}, {Query{Ref: "train*"}, false},
		{Query{Submitter: grid.Submitter{Node: node(1), User: "ann"}}, false},
		{Query{Name: "train*", States: 1 << Done}, false},
	} {
		if got := tc.q.Tells(&r); got != tc.want {
			t.Errorf("%+v selects %v: want %v", tc.q, got, tc.want)
		}
	}
	behind := kept(r, 2, 2, 1)
	if q := (Query{States: 1 << Done}); !q.Tells(&behind) {
		t.Error("a replica keeps quiet about a job whose state it does not decide")
	}
	list, _ := Merge(&Query{Limit: 9, States: 1 << Running}, node(9),
		[]Answer{{By: node(1), Rows: []Row{kept(job(1, 5), 2, 2, 1)}}, {By: node(2)}})
	if len(list) != 0 {
		t.Errorf("%s is listed: want the state that its owner knows", says(list))
	}
}

func TestBadQueries(t *testing.T) {
	for _, tc := range []struct {
		q    Query
		want string
	}{
		{Query{}, "limit 0: want 1 to 1000"}, {Query{Limit: 1001}, "limit 1001: want 1 to 1000"},
		{Query{Limit: 1, States: 1 << 6}, "want some of pending,running,done,failed,cancelled,held"},
		{Query{Limit: 1, Since: -1}, "want a time after 1970"},
		{Query{Limit: 1, Name: "[a"}, `name pattern "[a": want a shell pattern`},
		{Query{Limit: 1, Name: strings.Repeat("a", MaxPattern+1)}, "want at most 256"},
		{Query{Limit: 1, Ref: strings.Repeat("a", 129)}, "want at most 128"},
		{Query{Limit: 1, Name: "a\x1b[2J"}, "want printable text"},
	} {
		if err := tc.q.Check(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v: want %q", tc.q, err, tc.want)
		}
	}
	if _, err := ParseStates("done,lost"); err == nil ||
		err.Error() != `"lost": want one or more of pending, running, done, failed, cancelled, held, with commas between them` {
		t.Errorf("states: %v", err)
	}
	s, err := ParseStates("done, failed")
	if err != nil || s.String() != "done,failed" || s.Has(Running) || !s.Has(Failed) {
		t.Errorf("states %v, %v: want two", s, err)
	}
}

func TestRowsThatCannotBe(t *testing.T) {
	good := job(1, 1)
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for i, bad := range []func(*Row){
		func(r *Row) { r.Count = 0 }, func(r *Row) { r.Count = grid.MaxCount + 1 }, func(r *Row) { r.Ended = 5 },
		func(r *Row) { r.Failed = 1 }, func(r *Row) { r.Pending = -1 }, func(r *Row) { r.Submitted = -1 },
		func(r *Row) { r.Access = "all" }, func(r *Row) { r.Members = make([]grid.NodeID, 6) },
		func(r *Row) { r.Retried = -1 },
	} {
		if r := good.with(bad); r.Check() == nil {
			t.Errorf("row %d: %+v passes", i, r)
		}
	}
}
