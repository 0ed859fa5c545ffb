package api

import (
	"errors"
	"strings"
	"testing"
	"time"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// fakeMembers is an issuer that has let one admin in.
type fakeMembers struct {
	admin grid.NodeID
	asked []string
}

func (f *fakeMembers) Invite(name string, roles []string, uses int, lasts time.Duration) (string, error) {
	f.asked = append(f.asked, name+" "+strings.Join(roles, ",")+" "+lasts.String())
	if uses != 2 {
		return "", errors.New("uses: want 2")
	}
	return "skep2-invite", nil
}

func (f *fakeMembers) Revoke(ref string) (grid.NodeID, string, error) {
	f.asked = append(f.asked, "revoke "+ref)
	return f.admin, "laptop", nil
}

func (f *fakeMembers) IsAdmin(n grid.NodeID) bool { return n == f.admin }

func (f *fakeMembers) Certificate(grid.NodeID) *v1.Certificate {
	return &v1.Certificate{Name: "laptop", Roles: []string{"run"}, State: "valid"}
}

// The user of an issuer lets nodes in and puts them out; other members do neither, and drain only with the role admin.
func TestMembersOfANetworkWithCertificates(t *testing.T) {
	a, m := newFake(t, 1, "alpha"), &fakeMembers{admin: grid.NodeID{9}}
	url := a.serveAs(Options{Members: m}).URL
	const invite = `{"name": "laptop", "roles": ["run", "submit"], "uses": 2, "expires_seconds": 90}`
	if status, text := ask(t, "POST", url+"/v1/invites", invite); status != 200 ||
		!strings.Contains(text, "skep2-invite") {
		t.Errorf("invite: status %d, %s", status, text)
	}
	if len(m.asked) != 1 || m.asked[0] != "laptop run,submit 1m30s" {
		t.Errorf("asked for %q", m.asked)
	}
	for _, wrong := range []string{strings.Replace(invite, "2", "3", 1), strings.Replace(invite, "90", "-1", 1)} {
		if status, text := ask(t, "POST", url+"/v1/invites", wrong); status != 422 {
			t.Errorf("%s: status %d, %s: want 422", wrong, status, text)
		}
	}
	if status, text := ask(t, "POST", url+"/v1/revocations", `{"node": "laptop"}`); status != 200 ||
		!strings.Contains(text, m.admin.String()) {
		t.Errorf("revoke: status %d, %s", status, text)
	}
	if status, text := ask(t, "GET", url+"/v1/nodes/self", ""); !strings.Contains(text, `"certificate":{"name":"laptop"`) {
		t.Errorf("node: status %d, %s", status, text)
	}
	for _, path := range []string{"/v1/invites", "/v1/revocations"} {
		if status, text := a.asMember(m.admin, "POST", path, nil); status != 403 {
			t.Errorf("%s by another member: status %d, %s: want 403", path, status, text)
		}
	}
	if status, _ := a.asMember(grid.NodeID{8}, "POST", "/v1/nodes/self/drain", nil); status != 403 {
		t.Errorf("drain by a member without the role: status %d: want 403", status)
	}
	if status, text := a.asMember(m.admin, "POST", "/v1/nodes/self/drain", nil); status != 200 {
		t.Errorf("drain by an admin: status %d, %s", status, text)
	}
}
