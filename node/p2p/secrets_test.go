package p2p

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"io"
	"slices"
	"testing"

	"skep/grid"
	"skep/node/chain"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/secrets"
	"skep/node/p2p/wire"
	"skep/node/secret"
)

// asks makes a request for a secret: of a job that a node submits, and of which it gives an attempt to a worker.
func asks(t *testing.T, key ed25519.PrivateKey, of *secret.Secret, worker grid.NodeID) []byte {
	t.Helper()
	origin := grid.NodeID(key.Public().(ed25519.PublicKey))
	job := grid.JobID{Origin: origin, Nonce: [10]byte{1}}
	s := rig.Sh("true")
	s.Submitter, s.Signed, s.Secrets = grid.Submitter{Node: origin, User: "ada"}, true, []grid.SecretUse{of.Use("")}
	s.Needs.Labels = append(s.Needs.Labels, grid.LabelNeed{Key: grid.IsolationLabel,
		Values: grid.IsolationBasic.AtLeast()}, grid.FeatureNeed(grid.SecretLabel), grid.FeatureNeed(grid.SignedLabel))
	sealed, err := wire.SealSpec(key, job, s)
	if err != nil {
		t.Fatal(err)
	}
	r := &secret.Request{Op: secret.Get, Secret: secret.Secret{ID: of.ID}, Spec: sealed,
		Attempt: grid.AttemptID{Task: grid.TaskID{Job: job}, Attempt: grid.Attempt{Epoch: 1, N: 1}}}
	c := chain.New(chain.Key(key), origin, job, sealed, []grid.NodeID{origin})
	c.Own(1, "")
	r.Given = grid.Given{Assigned: c.Assign(0, r.Attempt.Attempt, worker), Evidence: c.Evidence(c.SignGenesis())}
	b, err := wire.EncodeSecretRequest(r)
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// A holder that refuses, as one that has lost the secret, does not keep a worker from getting it of another one.
func TestSecretOfAnotherHolder(t *testing.T) {
	a, b := openPair(t)
	of := secret.Secret{ID: secret.ID{Owner: a.self, Name: "db"}, Holders: []grid.NodeID{b.self}, Anyone: true,
		Origins: []secret.Origin{{Node: a.self}}}
	if err := a.Secrets().Set(t.Context(), of, []byte("value")); err != nil {
		t.Fatal(err)
	}
	of.Holders = []grid.NodeID{a.self, b.self}
	r, err := wire.DecodeSecretRequest(asks(t, a.key, &of, a.self)[4:])
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Secrets().Fetch(t.Context(), r.Attempt, r.Spec, &r.Given)
	if err != nil || len(got) != 1 || string(got[0].Value) != "value" {
		t.Errorf("got %v, %v", got, err)
	}
}

// Over the stream, too, a secret goes to the worker alone that the job's origin has given an attempt to, and only if
// the origin may use it. What is no request ends the stream.
func TestSecretsOverTheStream(t *testing.T) {
	a, b := openPair(t)
	r := newRogue(t, b)
	value := []byte("for one worker's eyes")
	of := secret.Secret{ID: secret.ID{Owner: a.self, Name: "db"}, Holders: []grid.NodeID{b.self}, Anyone: true,
		Origins: []secret.Origin{{Node: a.self}}}
	if err := a.Secrets().Set(t.Context(), of, value); err != nil {
		t.Fatal(err)
	}
	good := asks(t, a.key, &of, r.node)
	changed := slices.Clone(good)
	changed[len(changed)-1] ^= 1
	huge := binary.BigEndian.AppendUint32(nil, 1<<31)
	for name, c := range map[string]struct {
		request []byte
		status  int // −1 = the stream is reset
	}{
		"given by the origin":                {good, int(wire.StatusOK)},
		"given to another":                   {asks(t, a.key, &of, a.self), int(wire.StatusNone)},
		"of a job of its own":                {asks(t, r.key, &of, r.node), int(wire.StatusNone)},
		"changed on its way":                 {changed, int(wire.StatusNone)},
		"of a specification of another seal": {bytes.Replace(good, []byte("ada"), []byte("bob"), 1), -1},
		"too long":                           {huge, -1},
		"garbage":                            {append(binary.BigEndian.AppendUint32(nil, 3), 0xff, 0xff, 0xff), -1},
	} {
		st, err := r.NewStream(t.Context(), identity.Peer(b.self), secrets.Protocol)
		if err != nil {
			t.Fatal(err)
		}
		st.Write(c.request)
		got, err := io.ReadAll(st)
		switch {
		case c.status < 0:
			if err == nil || len(got) > 0 {
				t.Errorf("%s: answered %q, %v: want the stream reset", name, got, err)
			}
		case len(got) < 5 || int(got[0]) != c.status:
			t.Errorf("%s: answered %q, %v: want status %d", name, got, err, c.status)
		case bytes.Contains(got, value) != (c.status == int(wire.StatusOK)):
			t.Errorf("%s: answered %q", name, got)
		}
	}
}
