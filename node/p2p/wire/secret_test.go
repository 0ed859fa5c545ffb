package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skep/grid"
	"skep/node/secret"
)

// genSecretRequest draws a request, with a specification that its origin has sealed where it has one.
func genSecretRequest(t *rapid.T) *secret.Request {
	r := &secret.Request{Op: secret.Op(rapid.IntRange(int(secret.Get), int(secret.Look)).Draw(t, "op"))}
	r.Owner, r.Name = array[grid.NodeID](t, "owner"), rapid.SampledFrom([]string{"db", "a.b-c_d"}).Draw(t, "name")
	switch r.Op {
	case secret.Get:
		key := testKey(1)
		job := grid.JobID{Origin: nodeOf(key), Nonce: [10]byte{1}}
		s := genSpec(t)
		s.Submitter = grid.Submitter{Node: job.Origin}
		sealed, err := SealSpec(key, job, s)
		if err != nil {
			t.Fatal(err)
		}
		r.Spec = sealed
		r.Attempt = grid.AttemptID{Task: grid.TaskID{Job: job, Index: 3}, Attempt: grid.Attempt{Epoch: 1, N: 2}}
		r.Given = grid.Given{Assigned: genSigned(t, grid.MaxProof), Evidence: genSigned(t, grid.MaxEvidence)}
	case secret.Set:
		r.Value = rapid.SliceOfN(rapid.Byte(), 1, 64).Draw(t, "value")
		r.Holders = []grid.NodeID{array[grid.NodeID](t, "holder")}
		r.Former = []grid.NodeID{array[grid.NodeID](t, "former"), array[grid.NodeID](t, "former")}
		if r.Anyone = rapid.Bool().Draw(t, "anyone"); !r.Anyone {
			r.Workers = []grid.NodeID{array[grid.NodeID](t, "worker"), array[grid.NodeID](t, "worker")}
		}
		r.Origins = []secret.Origin{{Node: array[grid.NodeID](t, "origin"), User: "ada"}, {Node: r.Owner}}
	}
	return r
}

// What is encoded of a request is what is decoded.
func TestSecretRequestsTravel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genSecretRequest(t)
		b, err := EncodeSecretRequest(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeSecretRequest(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("(-sent +received):\n%s", diff)
		}
	})
}

// No bytes of a peer break the decoder, or make a request that is not fit to be looked at.
func FuzzSecretRequest(f *testing.F) {
	for _, r := range []*secret.Request{{Op: secret.Look, Secret: secret.Secret{ID: secret.ID{Name: "db"}}},
		{Op: secret.Set, Value: []byte("x"), Secret: secret.Secret{ID: secret.ID{Name: "db"}, Anyone: true,
			Holders: make([]grid.NodeID, 1), Origins: make([]secret.Origin, 1)}}} {
		b, err := EncodeSecretRequest(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeSecretRequest(b)
		if err != nil {
			return
		}
		if err := r.Check(); err != nil {
			t.Errorf("decoded: %v", err)
		}
		if _, err := EncodeSecretRequest(r); err != nil {
			t.Errorf("cannot be encoded again: %v", err)
		}
	})
}
