package api

import (
	"net/http"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/api/v1"
)

func TestDrain(t *testing.T) {
	f, g := newFake(t, 1, "alpha"), newFake(t, 2, "beta")
	f.connect(g)
	g.serve()
	url := f.serve().URL
	if d := get[v1.Drain](t, "POST", url+"/v1/nodes/self/drain?deadline=60", ""); !d.Draining || !d.Over ||
		d.Name != "alpha" || d.Left == 0 {
		t.Errorf("%+v: want an idle node to be done at once", d)
	}
	if n := get[v1.Node](t, "GET", url+"/v1/nodes/self", ""); n.State != v1.NodeDraining {
		t.Errorf("it is %s", n.State)
	}
	if status, text := ask(t, "POST", url+"/v1/jobs",
		`{"id":"bcdeaaaaaaaaaaaa","spec":{"command":["true"]}}`); status < 400 || !strings.Contains(text, "draining") {
		t.Errorf("%d %s: want a submission to be refused", status, text)
	}
	if d := get[v1.Drain](t, "DELETE", url+"/v1/nodes/self/drain", ""); d.Draining || d.Over {
		t.Errorf("%+v: want it to take work", d)
	}
	if d := get[v1.Drain](t, "POST", url+"/v1/nodes/beta/drain", ""); !d.Draining || d.Node != g.self.String() {
		t.Errorf("%+v: want the other node to drain", d)
	}
	for path, want := range map[string]int{"gamma/drain": http.StatusNotFound,
		"self/drain?deadline=-1": http.StatusUnprocessableEntity, "self/drain?deadline=1e9": http.StatusUnprocessableEntity} {
		if status, text := ask(t, "POST", url+"/v1/nodes/"+path, ""); status != want {
			t.Errorf("%s: %d %s: want %d", path, status, text, want)
		}
	}
}

// A node with admins can be drained by these, and at its local listener; others are refused with the reason.
func TestDrainIsForAdmins(t *testing.T) {
	var log lines
	a, b, c := newFake(t, 1, "alpha"), newFake(t, 2, "beta"), newFake(t, 3, "gamma")
	a.connect(b)
	a.connect(c)
	at := a.serveAs(Options{Log: log.logger(), Admins: []grid.NodeID{c.self}}).URL
	from := map[string]string{"at itself": at, "an admin": c.serve().URL, "another": b.serve().URL}
	for who, want := range map[string]int{"another": http.StatusForbidden, "an admin": http.StatusOK,
		"at itself": http.StatusOK} {
		for _, method := range []string{"POST", "DELETE"} {
			log.take()
			status, text := ask(t, method, from[who]+"/v1/nodes/alpha/drain", "")
			if status != want || want == http.StatusForbidden && (!strings.Contains(text, b.self.Short()) ||
				!strings.Contains(text, "admins")) {
				t.Errorf("%s by %s: status %d, %s: want %d", method, who, status, text, want)
			}
			if got := log.take(); strings.Contains(got, "refused=true") != (want == http.StatusForbidden) {
				t.Errorf("%s by %s: logged %q", method, who, got)
			}
		}
	}
	if d := get[v1.Drain](t, "GET", from["another"]+"/v1/nodes/alpha/drain", ""); d.Draining {
		t.Errorf("%+v", d)
	}
}
