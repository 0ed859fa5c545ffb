package secret

import (
	"crypto/ed25519"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node/chain"
)

// world is a holder, 0; an origin, 1, that owns its job alone; workers, 2 and 3.
type world struct {
	keys []chain.Key
	ids  []grid.NodeID
}

func newWorld() (w world) {
	for i := range 4 {
		var seed [ed25519.SeedSize]byte
		binary.BigEndian.PutUint32(seed[:], uint32(i))
		key := ed25519.NewKeyFromSeed(seed[:])
		w.keys, w.ids = append(w.keys, chain.Key(key)), append(w.ids, grid.NodeID(key.Public().(ed25519.PublicKey)))
	}
	return w
}

// request is what worker 2 asks with, for task 1 of two of a job of the origin.
func (w *world) request(held *Secret) *Request {
	spec := &grid.JobSpec{Count: 2, Seal: grid.Seal{Sealed: "sealed", Signed: true},
		Submitter: grid.Submitter{Node: w.ids[1], User: "ada"},
		TaskData:  grid.TaskData{Secrets: []grid.SecretUse{held.Use("")}}}
	r := &Request{Op: Get, Secret: Secret{ID: held.ID}, Spec: spec, Attempt: grid.AttemptID{
		Task:    grid.TaskID{Job: grid.JobID{Origin: w.ids[1], Nonce: [10]byte{7}}, Index: 1},
		Attempt: grid.Attempt{Epoch: 1, N: 1}}}
	w.assign(r, w.ids[2])
	return r
}

func (w *world) assign(r *Request, worker grid.NodeID) {
	c := chain.New(w.keys[1], w.ids[1], r.Attempt.Task.Job, r.Spec, w.ids[1:2])
	c.Own(1, "")
	r.Given = grid.Given{Assigned: c.Assign(r.Attempt.Task.Index, r.Attempt.Attempt, worker),
		Evidence: c.Evidence(c.SignGenesis())}
}

// A secret is handed to a worker that its list has, for an attempt that was given to it, of a job that names the secret
// and is of one of its origins; and for nothing less.
func TestWhoGetsASecret(t *testing.T) {
	w := newWorld()
	for name, c := range map[string]struct {
		worker int
		change func(*Secret, *Request)
		want   string // of why it is refused; "" = it is handed out
	}{
		"as its owner wants": {2, func(*Secret, *Request) {}, ""},
		"any worker":         {2, func(s *Secret, _ *Request) { s.Workers, s.Anyone = nil, true }, ""},
		"of any user":        {2, func(s *Secret, _ *Request) { s.Origins[0].User = "" }, ""},
		"another worker":     {3, func(*Secret, *Request) {}, "not among the workers"},
		"another worker, that has the attempt": {3, func(_ *Secret, r *Request) { w.assign(r, w.ids[3]) },
			"not among the workers"},
		"stolen from the worker that has it": {3, func(s *Secret, r *Request) { s.Workers, s.Anyone = nil, true },
			"has not given attempt"},
		"another user": {2, func(_ *Secret, r *Request) {
			r.Spec.Submitter.User = "bob"
			w.assign(r, w.ids[2])
		}, "may not use it"},
		"another origin":   {2, func(s *Secret, _ *Request) { s.Origins[0].Node = w.ids[3] }, "may not use it"},
		"a job without it": {2, func(_ *Secret, r *Request) { r.Spec.Secrets = nil }, "does not use it"},
		"another's of the name": {2, func(_ *Secret, r *Request) {
			r.Spec.Secrets[0].Owner = w.ids[3]
			w.assign(r, w.ids[2])
		}, "does not use it"},
		"not signed":      {2, func(_ *Secret, r *Request) { r.Spec.Signed = false }, "is not signed"},
		"not sealed":      {2, func(_ *Secret, r *Request) { r.Spec.Sealed = "" }, "is not signed"},
		"no such task":    {2, func(_ *Secret, r *Request) { r.Attempt.Task.Index = 2 }, "has no task"},
		"another task":    {2, func(_ *Secret, r *Request) { r.Attempt.Task.Index = 0 }, "has not given attempt"},
		"another attempt": {2, func(_ *Secret, r *Request) { r.Attempt.N = 2 }, "has not given attempt"},
		"not assigned":    {2, func(_ *Secret, r *Request) { r.Given = grid.Given{} }, "malformed"},
		"another's job":   {2, func(_ *Secret, r *Request) { r.Attempt.Task.Job.Nonce[0]++ }, "has not signed"},
	} {
		held := Secret{ID: ID{w.ids[1], "db"}, Holders: w.ids[:1], Workers: w.ids[2:3],
			Origins: []Origin{{Node: w.ids[1], User: "ada"}}}
		r := w.request(&held)
		c.change(&held, r)
		err := Allow(chain.Observer{}, w.ids[0], w.ids[c.worker], &held, r)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// An assignment is redeemed a few times within an hour, and not again before a day is over.
func TestAssignmentsAreRedeemedAFewTimes(t *testing.T) {
	var h Handed
	at := func(d time.Duration) grid.Time { return grid.Time(0).Add(d) }
	id, a := ID{grid.NodeID{1}, "db"}, grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: 1}}
	for i := range MaxTimes {
		if !h.Take(at(time.Duration(i)*time.Minute), id, a) {
			t.Fatalf("refused time %d", i+1)
		}
	}
	b, other := a, ID{id.Owner, "other"}
	b.N = 2
	switch {
	case h.Take(at(5*time.Minute), id, a):
		t.Error("handed out more often than it may be")
	case !h.Take(at(5*time.Minute), id, b), !h.Take(at(5*time.Minute), other, a):
		t.Error("another attempt, or another secret, is refused")
	case h.Take(at(5*time.Minute+Within+1), id, b):
		t.Error("handed out an hour after the first time")
	case !h.Take(at(remembered+time.Minute), id, a):
		t.Error("remembered for longer than a day")
	}
}

// More attempts than are remembered displace the oldest of the owner who has the most of them, and nobody is refused
// for it: a member that redeems a secret of its own for ever more attempts takes nothing from others.
func TestRememberedAttemptsAreBounded(t *testing.T) {
	var h Handed
	take := func(owner byte, n int) bool {
		return h.Take(1, ID{grid.NodeID{owner}, "db"}, grid.AttemptID{Task: grid.TaskID{Index: uint32(n)}})
	}
	for range MaxTimes {
		take(1, 0)
	}
	for n := range maxAttempts + 9 {
		if !take(2, n) {
			t.Fatalf("attempt %d is refused", n)
		}
	}
	if h.n != maxAttempts || h.of[grid.NodeID{1}].Len() != 1 {
		t.Errorf("%d attempts are remembered: want %d, and that of the other owner", h.n, maxAttempts)
	}
	if take(1, 0) {
		t.Error("what the other owner's attempt had is forgotten")
	}
}
