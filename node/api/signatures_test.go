package api

import (
	"crypto/ed25519"
	"net/http"
	"strings"
	"testing"

	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
	"skep/node/chain"
)

// newSigner returns a fake that signs.
func newSigner(t *testing.T, seed byte, name string) *fake {
	t.Helper()
	key := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), seed))
	self := grid.NodeID(key.Public().(ed25519.PublicKey))
	f := newFakeWith(t, seed, name, func(c *node.Config) {
		c.Self, c.Signer = self, chain.Key(key)
		c.Labels = append(c.Labels, grid.Label{Key: grid.SignedLabel, Value: grid.FeatureValue})
	})
	f.self = self
	return f
}

// submitSigned submits a job of two tasks as the driver does: signed or not.
func (f *fake) submitSigned(nonce byte, signed bool) string {
	f.t.Helper()
	id := grid.JobID{Origin: f.self, Nonce: [10]byte{nonce}}
	s := &grid.JobSpec{Command: []string{"true"}, Count: 2, Engine: grid.EngineProcess,
		Seal: grid.Seal{Sealed: "sealed", Signed: signed}}
	s.Needs.CPU = grid.CPU
	if signed {
		s.Needs.AddFeature(grid.SignedLabel)
	}
	if err := f.call(grid.Event{Kind: grid.EvSubmit, Caller: 1, Job: id, Spec: s}); err != nil {
		f.t.Fatal(err)
	}
	return id.String()
}

// Who has signed what is checked by the node that is asked, in what it keeps. A node that does not keep the job asks no
// other, and says which do.
func TestSignaturesAreCheckedHere(t *testing.T) {
	a, b := newSigner(t, 1, "alpha"), newSigner(t, 2, "beta")
	a.connect(b)
	url, other := a.serve().URL, b.serve().URL
	of := func(id string) string { return url + "/v1/jobs/" + id + "/signatures" }
	id := a.submitSigned(1, true)
	a.end(&grid.Result{Cause: grid.Exited, Exit: 7})
	s := get[v1.Signatures](t, http.MethodGet, of(id), "")
	self := a.self.String()
	if !s.Signed || !s.Holds() || s.By != self || s.Count != 2 || s.Names[self] != "alpha" || s.Origin.Node != self ||
		s.Origin.NotKept || s.Owner == nil || s.Owner.Node != self || s.Owner.Epoch != 1 {
		t.Errorf("the links: %+v", s)
	}
	if len(s.Tasks) != 2 || s.Tasks[0].Worker != self || s.Tasks[0].Exit != 7 || s.Tasks[0].Problem != "" ||
		s.Tasks[1].State == "ended" || s.Tasks[1].Worker != "" {
		t.Errorf("the tasks: %+v", s.Tasks)
	}
	if status, text := ask(t, http.MethodPost, url+"/v1/jobs/"+id+"/cancel", ""); status != http.StatusOK {
		t.Fatalf("cancel: %d %s", status, text)
	}
	// Once it is over it is packed: the proofs of its ends are kept.
	s = get[v1.Signatures](t, http.MethodGet, of(id)+"?from=1&limit=1", "")
	if len(s.Tasks) != 1 || s.Tasks[0].Index != 1 || s.Tasks[0].Worker != "" || s.Tasks[0].Owner != self ||
		s.Tasks[0].Problem != "" || !s.Holds() {
		t.Errorf("cancelled: %+v", s.Tasks)
	}

	unsigned := a.submitSigned(2, false)
	if s := get[v1.Signatures](t, http.MethodGet, of(unsigned), ""); s.Signed || s.Holds() || s.Origin != nil {
		t.Errorf("not signed: %+v", s)
	}

	status, text := ask(t, http.MethodGet, other+"/v1/jobs/"+id+"/signatures", "")
	if status != http.StatusNotFound || !strings.Contains(text, "node beta") || !strings.Contains(text, "does: alpha (") {
		t.Errorf("elsewhere: %d %s", status, text)
	}
	status, text = a.asMember(b.self, http.MethodGet, "/v1/jobs/"+id+"/signatures", nil)
	if status != http.StatusForbidden {
		t.Errorf("to another member: %d %s", status, text)
	}
}

// Who signed how a task ended says how it ended: under access owner it is for whoever has the job's capability.
func TestSignaturesNeedTheCapability(t *testing.T) {
	a := newFake(t, 1, "alpha")
	at := a.serve().URL
	path := "/v1/jobs/" + ownerSpec(t, at, "bcde").ID + "/signatures"
	if status, text := ask(t, http.MethodGet, at+path, ""); status != http.StatusForbidden {
		t.Errorf("without it: %d %s", status, text)
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(path, "/v1/jobs/"), "/")
	if status, text := askWith(t, http.MethodGet, at+path, "", a.proofHeaders(&key, id, http.MethodGet, path)); status !=
		http.StatusOK {
		t.Errorf("with it: %d %s", status, text)
	}
}
