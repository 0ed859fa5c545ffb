package api

import (
	"strings"
	"testing"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// A node that speaks another version of the control protocol is named with that as the reason wherever nodes are:
// in the list, by its ID, where a job is explained, and to who submits what can go nowhere else.
func TestNodesOfOtherVersionsAreNamed(t *testing.T) {
	f, newer, older := newFake(t, 1, "alpha"), grid.NodeID{7}, grid.NodeID{8}
	url := f.serveAs(Options{Versions: func() map[grid.NodeID]v1.VersionGap {
		return map[grid.NodeID]v1.VersionGap{newer: {Theirs: 3, Ours: 2}, older: {Theirs: 1, Ours: 2}}
	}}).URL
	says := map[grid.NodeID]string{
		newer: "speaks version 3 of the control protocol, and this node 2: bring this node up to date",
		older: "speaks version 1 of the control protocol, and this node 2: bring it up to date",
	}
	_, list := ask(t, "GET", url+"/v1/nodes", "")
	_, run := ask(t, "POST", url+"/v1/jobs?follow=true",
		`{"id":"bcdeaaaaaaaaaaaa","spec":{"command":["true"],"needs":{"labels":{"zone":["b"]}}}}`)
	_, explain := ask(t, "GET", url+"/v1/jobs/bcde/explain", "")
	for n, text := range says {
		_, one := ask(t, "GET", url+"/v1/nodes/"+n.Short(), "")
		for what, got := range map[string]string{"list": list, "description": one, "explanation": explain} {
			if !strings.Contains(got, text) || !strings.Contains(got, n.String()) {
				t.Errorf("%s: %s\nwant %s with %q", what, got, n, text)
			}
		}
		if !strings.Contains(run, n.Short()+" "+text) || !strings.Contains(run, `"exit_code":121`) {
			t.Errorf("who submits what nobody can run is told %s\nwant %s with %q", run, n.Short(), text)
		}
	}
	if n := strings.Count(list, `"other_version"`); n != 2 {
		t.Errorf("%d nodes are of another version in\n%s", n, list)
	}
}
