package api

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"skep/grid"
	"skep/node/api/v1"
	"skep/node/listing"
	"skep/node/p2p/joblist"
)

// falseClaimant serves a fake node's member listener, and records the requests.
type falseClaimant struct {
	mu    sync.Mutex
	asked []*http.Request
}

func (f *fake) claimsJob(answer http.HandlerFunc) *falseClaimant {
	x := &falseClaimant{}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x.mu.Lock()
		x.asked = append(x.asked, r)
		x.mu.Unlock()
		answer(w, r)
	})}
	go srv.Serve(f)
	f.t.Cleanup(func() { srv.Close() })
	return x
}

func (x *falseClaimant) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.asked)
}

// Any member may announce a takeover. While the job's origin can be asked, only the origin is.
// A job of a node that is gone, and that nobody announced to have taken over, is asked for where it is kept.
func TestKeeperIsAskedForTheJobOfAGoneNode(t *testing.T) {
	gone, here := grid.NodeID{9}, grid.NodeID{3}
	for _, tc := range []struct {
		origin grid.NodeID
		ref    string // "" = the whole ID
		want   []grid.NodeID
	}{{gone, "", []grid.NodeID{gone, {2}}}, {gone, "lost", []grid.NodeID{gone, {2}}}, {here, "", []grid.NodeID{here}}} {
		a, b, c := newFake(t, 1, "alpha"), newFake(t, 2, "beta"), newFake(t, 3, "gamma")
		for _, f := range []*fake{b, c} {
			a.connect(f)
			f.serve()
		}
		id := grid.JobID{Origin: tc.origin, Nonce: [10]byte{1}}
		a.told = &joblist.Result{Jobs: []listing.Entry{{Row: listing.Row{ID: id, Name: "lost", Access: grid.AccessMembers,
			Counts: listing.Counts{Count: 1}}, By: b.self, Behind: true}}}
		_, text := ask(t, http.MethodGet, a.serve().URL+"/v1/jobs/"+cmp.Or(tc.ref, id.String()), "")
		if !slices.Equal(a.dialled, tc.want) {
			t.Errorf("job %s of %s: asked %v: want %v: %s", tc.ref, tc.origin.Short(), a.dialled, tc.want, text)
		}
	}
}

func TestOriginIsAskedBeforeClaimants(t *testing.T) {
	a, d, evil := newFake(t, 1, "alpha"), newFake(t, 4, "delta"), newFake(t, 5, "evil")
	d.connect(a)
	d.connect(evil)
	j := submit(t, a.serve().URL, "bcde", "")
	id, _ := grid.ParseJobID(j.ID)
	lies := evil.claimsJob(func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, v1.Job{ID: j.ID, Name: "lie"}) })
	via := d.serve().URL
	d.announceTakeover(evil.self, id)
	for _, connected := range []bool{true, false} {
		if !connected { // but it can be dialled
			d.step(grid.Event{Kind: grid.EvPeerDown, Peer: a.self})
		}
		if k := get[v1.Job](t, "GET", via+"/v1/jobs/"+j.ID, ""); k.Name == "lie" {
			t.Errorf("origin connected %t: the answer is another node's", connected)
		}
	}
	get[v1.Job](t, "POST", via+"/v1/jobs/"+j.ID+"/cancel", "")
	a.mu.Lock()
	v, _ := a.n.Job(id)
	a.mu.Unlock()
	if !v.Cancelled || lies.count() != 0 {
		t.Errorf("cancelled at its origin: %t; %d requests went to who only says that it has the job", v.Cancelled,
			lies.count())
	}
}

// When the origin is gone the claimants are asked one after the other: one that does not have the job is skipped.
func TestClaimantWithoutTheJobIsSkipped(t *testing.T) {
	b, d, evil := newFake(t, 2, "beta"), newFake(t, 4, "delta"), newFake(t, 5, "evil")
	id := grid.JobID{Origin: grid.NodeID{1}, Nonce: [10]byte{5}}
	spec := ownerAccessSpec()
	spec.Capability = grid.CapabilityHash{}
	b.addReplica(id, spec, grid.NodeID{1}, b.self, grid.NodeID{3})
	b.serve()
	d.connect(b)
	d.connect(evil)
	lies := evil.claimsJob(func(w http.ResponseWriter, _ *http.Request) { problem(w, http.StatusNotFound, "no such job") })
	via := d.serve().URL
	d.announceTakeover(b.self, id)
	d.announceTakeover(evil.self, id)
	d.step(grid.Event{Kind: grid.EvAnnounce, Peer: evil.self, Msg: &grid.Message{Kind: grid.KindTakeover,
		Attempts: []grid.AttemptID{{Task: grid.TaskID{Job: id}, Attempt: grid.Attempt{Epoch: 1 << 31}}}}})
	if k := get[v1.Job](t, "GET", via+"/v1/jobs/"+id.String(), ""); k.Name != "sweep" || lies.count() != 1 {
		t.Errorf("%+v after %d lies: want the job of who has it, after one", k, lies.count())
	}
	gone := grid.JobID{Origin: grid.NodeID{1}, Nonce: [10]byte{6}}
	d.announceTakeover(evil.self, gone)
	if status, text := ask(t, "GET", via+"/v1/jobs/"+gone.String(), ""); status != http.StatusBadGateway ||
		!strings.Contains(text, "cannot be asked now") {
		t.Errorf("a job that nobody has: status %d, %s: want 502 that names its origin", status, text)
	}
}

// A node that relays a request, or claims the job, learns no capability: it can repeat that same request, at that
// node, for a while, and do nothing else.
func TestProofIsForOneRequest(t *testing.T) {
	a, d, evil := newFake(t, 1, "alpha"), newFake(t, 4, "delta"), newFake(t, 5, "evil")
	a.print = [2]string{"out", ""}
	a.connect(evil)
	at := a.serve().URL
	j := ownerSpec(t, at, "bcde")
	id, _ := grid.ParseJobID(j.ID)
	now := time.Unix(2e9, 0)
	a.srv.nonces.now = func() time.Time { return now }
	logs := "/v1/jobs/" + j.ID + "/logs?stream=stdout"
	seen := a.proofHeaders(&key, j.ID, "GET", logs)
	if strings.Contains(seen[v1.ProofHeader], key.String()) {
		t.Fatal("the proof has the capability in it")
	}
	for _, tc := range []struct {
		method, uri string
		later       time.Duration
		want        int
	}{
		{"GET", logs, 0, 200}, {"GET", logs, nonceLife, 200}, {"GET", logs, nonceLife + time.Second, 403},
		{"GET", logs, -time.Minute, 403},
		{"GET", "/v1/jobs/" + j.ID + "/logs?stream=stderr", 0, 403}, {"GET", "/v1/jobs/" + j.ID + "/tasks", 0, 403},
		{"POST", "/v1/jobs/" + j.ID + "/cancel", 0, 403},
	} {
		now = time.Unix(2e9, 0).Add(tc.later)
		if status, text := a.asMember(evil.self, tc.method, tc.uri, seen); status != tc.want {
			t.Errorf("%s %s, %v later: status %d, %s: want %d", tc.method, tc.uri, tc.later, status, text, tc.want)
		}
	}
	// The origin is gone and another node claims the job: it sees proofs for nonces that it made up.
	d.connect(evil)
	d.announceTakeover(evil.self, id)
	lies := evil.claimsJob(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(v1.NonceHeader, strings.Repeat("ab", nonceSize))
		problem(w, http.StatusForbidden, "show it")
	})
	askWith(t, "GET", d.serve().URL+logs, "", a.proofHeaders(&key, j.ID, "GET", logs))
	if lies.count() != 1 {
		t.Fatalf("%d requests", lies.count())
	}
	for name, values := range lies.asked[0].Header {
		if strings.Contains(strings.Join(values, " "), key.String()) {
			t.Errorf("header %s has the capability", name)
		}
	}
}
