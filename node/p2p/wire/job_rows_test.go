package wire

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skep/grid"
	"skep/node/listing"
	"skep/node/p2p/wire/internal/pb"
)

func exampleJobRow() listing.Row {
	return listing.Row{ID: exampleJob(), Name: "sweep", Access: grid.AccessMembers,
		Submitter: grid.Submitter{Node: exampleJob().Origin, User: "ann"}, OriginName: "alpha", Submitted: 1_700_000_000e9,
		Cancelled: true, Counts: listing.Counts{Count: 9, Pending: 1, Placed: 2, Ended: 6, Failed: 3, Retried: 4, Running: 1},
		Leads: true, Epoch: 5, Class: "process:sim", Done: 1_700_000_007e9, Exit: -3, Stopped: "3 failures",
		Members: []grid.NodeID{{1}, {2}}, Owner: grid.NodeID{2}, Since: 1_700_000_003e9}
}

func exampleJobQuery() listing.Query {
	return listing.Query{Limit: 50, States: 1<<listing.Done | 1<<listing.Failed, Since: 1_700_000_000e9, Name: "sw*p",
		Ref: "bcde"}
}

func TestJobQuery(t *testing.T) {
	q := exampleJobQuery()
	b, err := JobQueryRequest(&q)
	if err != nil || len(b) != JobQuerySize {
		t.Fatalf("%d bytes, %v: want %d", len(b), err, JobQuerySize)
	}
	if got, err := ReadJobQuery(b); err != nil || !cmp.Equal(got, q) {
		t.Errorf("%+v, %v: want %+v", got, err, q)
	}
	longest := listing.Query{Limit: listing.MaxRows, States: 0x3f, Since: 1<<63 - 1,
		Name: strings.Repeat("a", listing.MaxPattern), Ref: strings.Repeat("b", grid.MaxName)}
	if b, err := JobQueryRequest(&longest); err != nil || len(b) != JobQuerySize {
		t.Errorf("the longest query: %d bytes, %v: want %d", len(b), err, JobQuerySize)
	}
	for _, bad := range []listing.Query{{}, {Limit: 1001}, {Limit: 1, Name: "[a"}, {Limit: 1, States: 0x40}} {
		if _, err := JobQueryRequest(&bad); !errors.Is(err, ErrBound) {
			t.Errorf("%+v: %v: want ErrBound", bad, err)
		}
		p := pb.JobQuery{Limit: uint32(bad.Limit), States: uint32(bad.States), Name: bad.Name}
		body := encoded(t, &p)
		if _, err := ReadJobQuery(append([]byte{0, byte(len(body))}, body...)); !errors.Is(err, ErrBound) {
			t.Errorf("%+v is read: %v: want ErrBound", bad, err)
		}
	}
	if _, err := ReadJobQuery([]byte{1, 0, 0}); !errors.Is(err, ErrMalformed) {
		t.Errorf("a length beyond the request: %v: want ErrMalformed", err)
	}
}

func TestJobRows(t *testing.T) {
	open, secret := exampleJobRow(), exampleJobRow()
	secret.Access = grid.AccessOwner
	b, err := AppendJobRows(nil, []listing.Row{open, secret}, true)
	if err != nil {
		t.Fatal(err)
	}
	rows, more, err := ReadJobRows(b)
	want := listing.Row{ID: open.ID, Name: open.Name, Access: grid.AccessOwner, Submitter: open.Submitter,
		OriginName: open.OriginName, Submitted: open.Submitted, Cancelled: true, Counts: open.Counts, Leads: true, Epoch: 5}
	if err != nil || !more || !cmp.Equal(rows, []listing.Row{open, want}) {
		t.Errorf("%v, %v: %s", more, err, cmp.Diff(rows, []listing.Row{open, want}))
	}
	if strings.Contains(string(b[len(b)/2:]), "process:sim") {
		t.Error("the class of a job under access owner is told")
	}
}

// An answer never exceeds its bound: the oldest jobs are left out.
func TestJobRowsFit(t *testing.T) {
	r := exampleJobRow()
	r.Name, r.Class, r.Stopped = strings.Repeat("n", grid.MaxName), strings.Repeat("c", grid.MaxClass),
		strings.Repeat("s", grid.MaxText)
	all := make([]listing.Row, listing.MaxRows)
	for i := range all {
		all[i] = r
	}
	b, err := AppendJobRows(nil, all, false)
	if err != nil || len(b) > MaxJobRows {
		t.Fatalf("%d bytes, %v: want at most %d", len(b), err, MaxJobRows)
	}
	if rows, more, err := ReadJobRows(b); err != nil || !more || len(rows) < 400 {
		t.Errorf("%d rows, more %v, %v: want some of 1000, and that there are more", len(rows), more, err)
	}
}

func TestBadJobRows(t *testing.T) {
	good := func() *pb.JobRow { r := exampleJobRow(); return putJobRow(&r) }
	for what, change := range map[string]func(*pb.JobRow){
		"short ID":       func(r *pb.JobRow) { r.Id = r.Id[1:] },
		"half a member":  func(r *pb.JobRow) { r.Members = r.Members[:40] },
		"short owner":    func(r *pb.JobRow) { r.Owner = r.Owner[:7] },
		"too many tasks": func(r *pb.JobRow) { r.Count = grid.MaxCount + 1 },
		"ended":          func(r *pb.JobRow) { r.Ended = 10 },
		"huge":           func(r *pb.JobRow) { r.Retried = 1 << 31 },
		"before 1970":    func(r *pb.JobRow) { r.Submitted = -1 },
		"long name":      func(r *pb.JobRow) { r.Name = strings.Repeat("a", grid.MaxName+1) },
		"members":        func(r *pb.JobRow) { r.Members = make([]byte, 32*6) },
	} {
		r := good()
		change(r)
		if _, _, err := ReadJobRows(encoded(t, &pb.JobRows{Rows: []*pb.JobRow{r}})); !errors.Is(err, ErrBound) {
			t.Errorf("%s: %v: want ErrBound", what, err)
		}
	}
	older := good()
	older.Submitted--
	if _, _, err := ReadJobRows(encoded(t, &pb.JobRows{Rows: []*pb.JobRow{older, good()}})); !errors.Is(err, ErrBound) {
		t.Errorf("older before newer: %v: want ErrBound", err)
	}
	if _, _, err := ReadJobRows(make([]byte, MaxJobRows+1)); !errors.Is(err, ErrSize) {
		t.Errorf("too large: %v: want ErrSize", err)
	}
	many := &pb.JobRows{}
	for range listing.MaxRows + 1 {
		many.Rows = append(many.Rows, &pb.JobRow{})
	}
	if _, _, err := ReadJobRows(encoded(t, many)); !errors.Is(err, ErrBound) {
		t.Errorf("1001 rows: %v: want ErrBound", err)
	}
	hostile := good()
	hostile.Name, hostile.OriginName, hostile.User = "a\x1b[2J", "b\u202e", "c\n"
	rows, _, err := ReadJobRows(encoded(t, &pb.JobRows{Rows: []*pb.JobRow{hostile}}))
	if err != nil || rows[0].Name != "a?[2J" || rows[0].OriginName != "b?" || rows[0].Submitter.User != "c " {
		t.Errorf("%+v, %v: want texts that a terminal can show", rows, err)
	}
}

// What is decoded without an error can be encoded again, and is decoded to the same.
func FuzzJobRows(f *testing.F) {
	row := exampleJobRow()
	b, err := AppendJobRows(nil, []listing.Row{row, row}, true)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, more, err := ReadJobRows(b)
		if err != nil {
			if Reason(err) == "other" {
				t.Fatal(err)
			}
			return
		}
		said, err := AppendJobRows(nil, rows, more)
		if err != nil {
			t.Fatal(err)
		}
		if again, _, err := ReadJobRows(said); err != nil || len(said) < MaxJobRows/2 && !cmp.Equal(again, rows) {
			t.Fatalf("%v: %s", err, cmp.Diff(again, rows))
		}
	})
}

func FuzzJobQuery(f *testing.F) {
	q := exampleJobQuery()
	b, err := JobQueryRequest(&q)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) != JobQuerySize {
			return
		}
		q, err := ReadJobQuery(b)
		if err != nil {
			return
		}
		again, err := JobQueryRequest(&q)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := ReadJobQuery(again); err != nil || p != q {
			t.Fatalf("%+v, %v: want %+v", p, err, q)
		}
	})
}
