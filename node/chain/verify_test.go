package chain

import (
	"strings"
	"testing"

	"skep/grid"
)

// record is what a member keeps of the register of the world's job: node 1 owns epoch 4.
func (w *world) record() *grid.RegisterRecord {
	return &grid.RegisterRecord{ID: w.job, Spec: w.spec, Members: w.members, Epoch: 4, Owner: w.ids[1],
		Genesis: w.at(0).SignGenesis(), Mandate: w.mandate(4, 1, 1, 2)}
}

// ends are those of three tasks: run for the first owner, run for the second, lost.
func (w *world) ends() []grid.Entry {
	second := w.mandate(4, 1, 1, 2)
	lost := &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep}
	return []grid.Entry{*w.ran(0, 3, 0, grid.Attempt{Epoch: 1, N: 1}, "", printed()),
		*w.ran(1, 4, 1, grid.Attempt{Epoch: 4, N: 1}, second, printed()),
		{Index: 2, Attempt: grid.Attempt{Epoch: 4, N: 1}, Worker: w.ids[3], Result: w.owner(1, 4, second).ByOwner(2, lost)}}
}

// found is what does not hold, link by link, and of ends by index.
func (x *Report) found(t *testing.T) (out string) {
	for k, err := range []error{x.Origin, x.Members, x.Owner} {
		if err != nil {
			out += " " + [...]string{"origin", "members", "owner"}[k] + ":" + link(t, err).String()
		}
	}
	for _, e := range x.Ends {
		if e.Err != nil {
			out += " " + string('0'+rune(e.Index)) + ":" + link(t, e.Err).String()
		}
	}
	return strings.TrimSpace(out)
}

// A keeper sees by its own record who has signed what, and of a forged record which link does not hold.
func TestVerifyRecord(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world, r *grid.RegisterRecord, ends []grid.Entry)
		want   string
	}{
		"honest": {func(*world, *grid.RegisterRecord, []grid.Entry) {}, ""},
		"forged exit": {func(_ *world, _ *grid.RegisterRecord, ends []grid.Entry) {
			copied := *ends[0].Result
			copied.Exit = 0
			ends[0].Result = &copied
		}, "0:worker"},
		"an end of nobody": {func(_ *world, _ *grid.RegisterRecord, ends []grid.Entry) {
			ends[1].Result = printed()
		}, "1:worker"},
		"an owner's word for a program's end": {func(w *world, _ *grid.RegisterRecord, ends []grid.Entry) {
			ends[1].Result = w.owner(1, 4, w.mandate(4, 1, 1, 2)).ByOwner(1, printed())
		}, "1:worker"},
		"an end of an owner without votes": {func(w *world, _ *grid.RegisterRecord, ends []grid.Entry) {
			ends[2].Result = w.owner(2, 5, w.mandate(5, 2, 2)).ByOwner(2, &grid.Result{Cause: grid.Lost})
		}, "2:votes"},
		"no votes":  {func(_ *world, r *grid.RegisterRecord, _ []grid.Entry) { r.Mandate = "" }, "owner:votes"},
		"no origin": {func(_ *world, r *grid.RegisterRecord, _ []grid.Entry) { r.Genesis = "" }, "origin:origin"},
		"other members": {func(w *world, r *grid.RegisterRecord, _ []grid.Entry) {
			r.Members = []grid.NodeID{w.ids[0], w.ids[1], w.ids[5]}
		}, "origin:origin owner:votes 0:assignment 1:votes 2:votes"},
		"members changed by nobody": {func(w *world, r *grid.RegisterRecord, _ []grid.Entry) {
			r.Set = &grid.Membership{Number: 1, Epoch: 4, At: 2, Members: []grid.NodeID{w.ids[0], w.ids[1], w.ids[5]}}
		}, "members:members"},
	} {
		w := newWorld()
		r, ends := w.record(), w.ends()
		c.change(w, r, ends)
		if got := Verify(w.ids[2], r, ends).found(t); got != c.want {
			t.Errorf("%s: %q does not hold, want %q", name, got, c.want)
		}
	}
	w := newWorld()
	x := Verify(w.ids[2], w.record(), w.ends())
	want := []Signed{{w.ids[0], 1, w.ids[3]}, {w.ids[1], 4, w.ids[4]}, {Owner: w.ids[1], Epoch: 4}}
	for k, e := range x.Ends {
		if e.Signed != want[k] {
			t.Errorf("task %d: %+v, want %+v", k, e.Signed, want[k])
		}
	}
	if len(x.Voters) != 2 || x.Voters[0] != w.ids[1] || x.Voters[1] != w.ids[2] || x.Unsigned {
		t.Errorf("voters %v, unsigned %v", x.Voters, x.Unsigned)
	}
}

// The origin's own signature may be missing where it alone keeps the job, and checks: not where anybody else does.
func TestVerifyWithoutOriginsSignature(t *testing.T) {
	w := newWorld()
	w.members = w.ids[:1]
	r := &grid.RegisterRecord{ID: w.job, Spec: w.spec, Members: w.members, Epoch: 1, Owner: w.ids[0], Done: true}
	ends := []grid.Entry{*w.ran(0, 3, 0, grid.Attempt{Epoch: 1, N: 1}, "", printed())}
	if x := Verify(w.ids[0], r, ends); x.found(t) != "" || !x.Unsigned {
		t.Errorf("at the origin: %q does not hold, unsigned %v", x.found(t), x.Unsigned)
	}
	if x := Verify(w.ids[1], r, ends); x.found(t) != "origin:origin" || x.Unsigned {
		t.Errorf("elsewhere: %q does not hold, unsigned %v", x.found(t), x.Unsigned)
	}
}

// After a change of members the votes of those before it count for an owner that they have chosen since, as in ends.
func TestVerifyAfterAChange(t *testing.T) {
	w := newWorld()
	before := w.mandate(4, 1, 0, 1)
	c := w.owner(0, 1, "")
	x := &Change{Epoch: 1, At: 2, Node: w.ids[5]}
	for _, place := range []int{0, 1, 2} {
		voter := []int{0, 1, 5}[place]
		x.Votes = append(x.Votes, CastVote{uint8(place), w.at(voter).SignChange(x)})
	}
	links := c.Extend(x)
	r := w.record()
	r.Mandate = before
	changed := []grid.NodeID{w.ids[0], w.ids[1], w.ids[5]}
	r.Set = &grid.Membership{Number: 1, Epoch: 1, At: 2, Members: changed, Links: links}
	if got := Verify(w.ids[1], r, nil); got.found(t) != "" || len(got.Voters) != 2 {
		t.Errorf("%q does not hold; voters %v", got.found(t), got.Voters)
	}
}
