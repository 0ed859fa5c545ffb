package p2p

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/reachability"
	"skep/node/p2p/store"
)

// A copy that gets a new identity is another member of the same network, and knows nothing of the other's jobs.
func TestNewIdentityOfACopy(t *testing.T) {
	t.Parallel()
	a, b := openPair(t)
	b.run(1, rig.Sh("true"))
	rig.Await(t, "b saves a", func() bool { return reachability.CountSaved(t.Context(), b.store.Datastore()) > 0 })
	b.close()
	dir := copyFolder(t, b.cfg.DataDir)
	again := openMember(t, b.cfg.DataDir, nil)
	if _, err := Renew(b.cfg.DataDir, false); err == nil {
		t.Error("the folder of a node that runs gets another identity")
	}
	token := renewed(t, dir, true)
	other := openMember(t, dir, nil, token)
	waitUp(t, a, again)
	waitUp(t, a, other)
	if other.self == b.self || other.secret != b.secret {
		t.Error("want another identity in the same network")
	}
	if n := len(other.fake.old); n != 0 {
		t.Errorf("it restores %d records of the other node", n)
	}
	if _, err := Renew(t.TempDir(), false); err == nil || !strings.Contains(err.Error(), "no node has run") {
		t.Errorf("an empty folder: %v", err)
	}

	// As a unit file does it that has the flag: every start asks for another identity.
	rig.Await(t, "it saves a", func() bool { return slices.Contains(other.reach.Recent(8), a.self) })
	other.close()
	if token := renewed(t, dir, false); token != "" {
		t.Error("there is still a token, though the folder knows members")
	}
	second := openMember(t, dir, nil)
	waitUp(t, a, second)
	if second.self != other.self {
		t.Error("the second start has another identity")
	}
	second.close()
	if renewed(t, copyFolder(t, dir), true) == "" {
		t.Error("a copy of it gets another identity without a token")
	}
	if on, err := Renew(dir, true); !on || err != nil {
		t.Errorf("told to do it again: %v, %v", on, err)
	}
}

// A folder that was copied under a running node may have a log that does not belong to its database: it gets another
// identity all the same.
func TestNewIdentityOfALiveCopy(t *testing.T) {
	dir := t.TempDir()
	if _, _, _, err := startFolder(dir); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	s, err := store.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	class := grid.Record{Kind: grid.RecClass, Class: grid.ClassRecord{Class: "c", Mean: 2}}
	if err := s.Commit([]grid.Record{class}); err != nil {
		t.Fatal(err)
	}
	live := copyFolder(t, data)
	if err := os.Remove(filepath.Join(live, store.LogFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(live); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("with the identity that it has: %v", err)
	}
	if did, err := Renew(live, false); !did || err != nil {
		t.Errorf("another identity: %v, %v", did, err)
	}
	if _, err := os.Stat(filepath.Join(live, store.File)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the other node's database is there: %v", err)
	}
}

// renewed asks for another identity of a folder, as the start of a node does, and returns the token with which it
// joins.
func renewed(t *testing.T, dir string, want bool) (token string) {
	t.Helper()
	did, err := Renew(dir, false)
	if err == nil {
		token, err = Rejoin(dir)
	}
	if err != nil || did != want {
		t.Fatalf("another identity: %v, %v: want %v", did, err, want)
	}
	return token
}

// A start that fails, or is cut short anywhere, loses neither the members that were known nor the new identity.
func TestNewIdentityThatIsCutShort(t *testing.T) {
	t.Parallel()
	a, b := openPair(t)
	rig.Await(t, "b saves a", func() bool { return reachability.CountSaved(t.Context(), b.store.Datastore()) > 0 })
	b.close()
	dir := copyFolder(t, b.cfg.DataDir)
	if token := renewed(t, dir, true); token == "" {
		t.Fatal("no token")
	}
	if _, err := tryOpenMember(t, dir, func(c *Config) { c.Listen = []string{a.listenAddr()} }); err == nil {
		t.Fatal("it starts at an address that is taken")
	}
	token := renewed(t, dir, false)
	if token == "" {
		t.Fatal("the token is gone after a start that failed")
	}
	half := []string{identity.KeyFile, store.MarkFile}
	for _, left := range [][]string{append(half[:2:2], store.File), half, nil} {
		cut := copyFolder(t, b.cfg.DataDir)
		if err := (&renewal{Place: "here", Token: token}).save(cut); err != nil {
			t.Fatal(err)
		}
		for _, name := range left {
			if err := os.RemoveAll(filepath.Join(cut, name)); err != nil {
				t.Fatal(err)
			}
		}
		again, err := Rejoin(cut)
		if err != nil || again == "" {
			t.Fatalf("cut short with %v removed: %q, %v: want the token", left, again, err)
		}
		c := openMember(t, cut, nil, again)
		waitUp(t, a, c)
		if c.self == b.self {
			t.Errorf("cut short with %v removed: it has the other node's identity", left)
		}
		c.close()
	}
	if token, err := Rejoin(a.cfg.DataDir); token != "" || err != nil {
		t.Errorf("a folder that nothing happened to: %q, %v", token, err)
	}
}
