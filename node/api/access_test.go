package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node/api/v1"
)

// key is the capability, and keyHash its hash in the job's spec.
var (
	key     = v1.Capability{1, 31: 2}
	keyHash = func() string { h := key.Hash(); return hex.EncodeToString(h[:]) }()
)

// proofHeaders returns the headers of a request about a job with a proof for this node.
func (f *fake) proofHeaders(with *v1.Capability, job, method, uri string) map[string]string {
	f.t.Helper()
	id, err := grid.ParseJobID(job)
	if err != nil {
		f.t.Fatal(err)
	}
	path, query, _ := strings.Cut(uri, "?")
	p := with.Prove(&v1.Request{Job: id, Method: method, Path: path, Query: query, Nonce: f.srv.nonces.issue(id)})
	return map[string]string{v1.ProofHeader: p.String()}
}

// ownerSpec submits a job under access owner whose environment is a secret.
func ownerSpec(t *testing.T, url, nonce string) v1.Job {
	t.Helper()
	return submit(t, url, nonce,
		`,"name":"sweep","env":{"TOKEN":"hunter2"},"access":"owner","capability_sha256":"`+keyHash+`"`)
}

// asMember makes requests to a node's member handler as another node.
func (f *fake) asMember(by grid.NodeID, method, path string, more map[string]string) (int, string) {
	f.t.Helper()
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		a, b := net.Pipe()
		f.conns <- provedConn{b, by}
		return a, nil
	}}
	return askVia(f.t, &http.Client{Transport: tr}, method, "http://skep"+path, "", more)
}

var secretPaths = []struct{ method, of string }{
	{"GET", "/tasks"}, {"GET", "/explain"}, {"GET", "/logs"}, {"GET", "/logs?stream=stdout"},
	{"GET", "/blobs/" + strings.Repeat("1", 64)}, {"POST", "/cancel"},
}

// The spec, environment, output and results of a job under access owner need its capability, and so does cancelling
// it: at its origin's local listener, as a member, and through another node. Its ID, name, submitter, state and
// counts are for every member.
func TestOwnerAccessNeedsTheCapability(t *testing.T) {
	a, b := newFake(t, 1, "alpha"), newFake(t, 2, "beta")
	a.connect(b)
	a.print = [2]string{"secret output", ""}
	at, via := a.serve().URL, b.serve().URL
	j := ownerSpec(t, at, "bcde")
	if j.Access != "owner" || len(j.Command) != 0 || j.Class != "" {
		t.Errorf("the answer to its submission: %+v", j)
	}
	other := strings.Replace(j.ID, "bcde", "bcdf", 1)
	callers := map[string]func(method, path string, more map[string]string) (int, string){
		"its origin": func(method, path string, more map[string]string) (int, string) {
			return askWith(t, method, at+path, "", more)
		},
		"another node": func(method, path string, more map[string]string) (int, string) {
			return askWith(t, method, via+path, "", more)
		},
		"as a member": func(method, path string, more map[string]string) (int, string) {
			return a.asMember(b.self, method, path, more)
		},
	}
	for name, call := range callers {
		for _, shows := range []func(method, path string) map[string]string{
			func(string, string) map[string]string { return nil },
			func(m, p string) map[string]string { return a.proofHeaders(&v1.Capability{9}, j.ID, m, p) },
			func(m, p string) map[string]string { return a.proofHeaders(&key, other, m, p) },
			func(m, p string) map[string]string { return a.proofHeaders(&key, j.ID, "PUT", p) },
			func(m, p string) map[string]string { return a.proofHeaders(&key, j.ID, m, p+"&x=1") },
			func(m, p string) map[string]string { return b.proofHeaders(&key, j.ID, m, p) }, // another node's nonce
			func(string, string) map[string]string { return map[string]string{v1.ProofHeader: "x"} },
			func(string, string) map[string]string { return map[string]string{"Skep-Capability": key.String()} },
		} {
			for _, p := range secretPaths {
				path := "/v1/jobs/" + j.ID + p.of
				status, text := call(p.method, path, shows(p.method, path))
				var problem v1.Problem
				if status != http.StatusForbidden || json.Unmarshal([]byte(text), &problem) != nil || problem.Job != j.ID ||
					!strings.Contains(problem.Detail, "--capability FILE") {
					t.Errorf("%s: %s %s: status %d, %s: want 403 that says what is needed", name, p.method, p.of, status, text)
				}
			}
			for _, of := range []string{"", "/wait?timeout=0"} {
				status, text := call("GET", "/v1/jobs/"+j.ID+of, shows("GET", "/v1/jobs/"+j.ID+of))
				var k v1.Job
				if status != http.StatusOK || json.Unmarshal([]byte(text), &k) != nil || k.Name != "sweep" || k.Submitter == nil ||
					k.Submitter.User != ownUser() || k.Count != 1 {
					t.Errorf("%s: job%s: status %d, %s: want its name, submitter, state and counts", name, of, status, text)
				}
				if strings.Contains(text, "hunter2") || strings.Contains(text, "true") || k.Spec != nil ||
					strings.Contains(text, keyHash) || k.Members != nil || k.Owner != "" || k.Done != nil {
					t.Errorf("%s: job%s: %s: want no word of what it runs", name, of, text)
				}
			}
		}
		if status, text := call("GET", "/v1/jobs/"+j.ID,
			a.proofHeaders(&key, j.ID, "GET", "/v1/jobs/"+j.ID)); status != http.StatusOK || !strings.Contains(text, "hunter2") {
			t.Errorf("%s, with its capability: status %d, %s: want the spec", name, status, text)
		}
		for _, p := range secretPaths[:4] {
			if status, text := call(p.method, "/v1/jobs/"+j.ID+p.of,
				a.proofHeaders(&key, j.ID, p.method, "/v1/jobs/"+j.ID+p.of)); status != http.StatusOK {
				t.Errorf("%s, with its capability: %s: status %d, %s", name, p.of, status, text)
			}
		}
	}
	if l := get[v1.JobPage](t, "GET", at+"/v1/jobs", ""); len(l.Jobs) != 1 || len(l.Jobs[0].Command) != 0 ||
		l.Jobs[0].Name != "sweep" {
		t.Errorf("listed: %+v", l.Jobs)
	}
	// Submitting the known ID again does not allow following it.
	for _, spec := range []string{`{"command":["true"]}`, `{"command":["true"],"access":"owner","capability_sha256":"` +
		strings.Repeat("1", 64) + `"}`} {
		c := &http.Client{Timeout: 10 * time.Second} // connections stay open
		if status, text := askVia(t, c, "POST", at+"/v1/jobs?follow=true", `{"id":"`+j.ID+`","spec":`+spec+`}`,
			nil); status != http.StatusForbidden {
			t.Errorf("submitted again: status %d, %s: want 403", status, text)
		}
	}
	if status, text := callers["another node"]("POST", "/v1/jobs/"+j.ID+"/cancel",
		a.proofHeaders(&key, j.ID, "POST", "/v1/jobs/"+j.ID+"/cancel")); status != http.StatusOK {
		t.Errorf("cancelled with its capability: status %d, %s", status, text)
	}
}

// A submission without access gets the node's default. Under access owner it needs a capability, or is answered
// with the job's whole ID, for which one is drawn.
func TestAccessOfASubmission(t *testing.T) {
	members, owner := newFake(t, 1, "alpha").serve().URL,
		newFake(t, 2, "beta").serveAs(Options{Access: grid.AccessOwner}).URL
	for _, tc := range []struct {
		url, more string
		status    int
		want      string
	}{
		{members, ``, 200, `"access":"members"`},
		{members, `,"access":"owner"`, 428, `"job":"bcdeaaaaaaaaaaaa-`},
		{owner, ``, 428, `"job":"bcdeaaaaaaaaaaaa-`},
		{owner, `,"access":"members"`, 200, `"access":"members"`},
		{members, `,"access":"owner","capability_sha256":"` + keyHash + `"`, 200, `"access":"owner"`},
		{members, `,"access":"members","capability_sha256":"` + keyHash + `"`, 422, "access owner only"},
		{members, `,"access":"owner","capability_sha256":"12"`, 422, "64 hexadecimal digits"},
		{members, `,"access":"owner","capability_sha256":"` + strings.Repeat("0", 64) + `"`, 422, "64 hexadecimal digits"},
		{members, `,"access":"everybody"`, 422, "want members or owner"},
		{members, `,"submitter":{"user":"root"}`, 422, "unexpected property"},
	} {
		nonce := "bcde"
		if tc.status == 200 {
			nonce = "bcd" + string(rune('f'+len(tc.more)%19))
		}
		nonce += strings.Repeat("a", 16-len(nonce))
		status, text := ask(t, "POST", tc.url+"/v1/jobs", `{"id":"`+nonce+`","spec":{"command":["true"]`+tc.more+`}}`)
		if status != tc.status || !strings.Contains(text, tc.want) {
			t.Errorf("%s: status %d, %s: want %d and %q", tc.more, status, text, tc.status, tc.want)
		}
	}
}

// addReplica makes a node a member of the register of another's job, whose origin is not connected to it.
func (f *fake) addReplica(id grid.JobID, spec *grid.JobSpec, members ...grid.NodeID) {
	f.t.Helper()
	f.step(grid.Event{Kind: grid.EvMessage, Peer: id.Origin, Msg: &grid.Message{Kind: grid.KindWrite,
		Register: grid.RegisterMessage{Job: id, Epoch: 1, Seq: 1, Spec: spec, Members: members}}})
	f.step(grid.Event{Kind: grid.EvPeerDown, Peer: id.Origin})
}

// announceTakeover delivers a takeover announcement of another node to a node.
func (f *fake) announceTakeover(who grid.NodeID, id grid.JobID) {
	f.step(grid.Event{Kind: grid.EvAnnounce, Peer: who, Msg: &grid.Message{Kind: grid.KindTakeover,
		Attempts: []grid.AttemptID{{Task: grid.TaskID{Job: id}, Attempt: grid.Attempt{Epoch: 2}}}}})
}

func ownerAccessSpec() *grid.JobSpec {
	return &grid.JobSpec{Name: "sweep", Engine: grid.EngineProcess, Command: []string{"true"}, Count: 1, Retries: 1,
		Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}},
		Env:   []grid.Var{{Name: "TOKEN", Value: "hunter2"}}, Capability: key.Hash()}
}

// When its origin is gone a job under access owner is readable with its capability, and only so, at a replica and
// through a node that has only received the takeover announcement.
func TestOwnerAccessAtAReplica(t *testing.T) {
	b, c, d := newFake(t, 2, "beta"), newFake(t, 3, "gamma"), newFake(t, 4, "delta")
	id := grid.JobID{Origin: grid.NodeID{1}, Nonce: [10]byte{5}}
	b.addReplica(id, ownerAccessSpec(), grid.NodeID{1}, b.self, c.self)
	d.connect(b)
	d.announceTakeover(b.self, id)
	kept, heard := b.serve().URL, d.serve().URL
	for name, url := range map[string]string{"a keeper": kept, "through another": heard} {
		if status, text := askWith(t, "GET", url+"/v1/jobs/"+id.String(), "", b.proofHeaders(&key, id.String(), "GET",
			"/v1/jobs/"+id.String())); status != 200 || !strings.Contains(text, "hunter2") {
			t.Errorf("%s, with its capability: status %d, %s: want the spec", name, status, text)
		}
		if status, text := askWith(t, "GET", url+"/v1/jobs/"+id.String()+"/tasks", "", nil); status != 403 {
			t.Errorf("%s, without: status %d, %s: want 403", name, status, text)
		}
		if status, text := askWith(t, "GET", url+"/v1/jobs/"+id.String(), "", nil); status != 200 ||
			strings.Contains(text, "hunter2") || !strings.Contains(text, "sweep") {
			t.Errorf("%s, without: status %d, %s: want what every member may know", name, status, text)
		}
	}
	if status, text := b.asMember(grid.NodeID{9}, "GET", "/v1/jobs/"+id.String()+"/explain", nil); status != 403 {
		t.Errorf("a member at a keeper: status %d, %s: want 403", status, text)
	}
}
