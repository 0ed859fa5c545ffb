package p2p

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/reachability"
)

func TestTokenOfAnotherNetwork(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil)
	b.close()
	_, err := tryOpenMember(t, b.cfg.DataDir, nil, a.token())
	if err == nil || !strings.Contains(err.Error(), "belongs to network "+identity.NetworkName(b.secret)) {
		t.Errorf("error %v: want the names of both networks", err)
	}
	again := openMember(t, b.cfg.DataDir, nil)
	if again.self != b.self || again.secret != b.secret || again.boot != b.boot+1 && again.boot != b.boot+2 {
		t.Errorf("after a restart: another identity or network, or boot %d after %d", again.boot, b.boot)
	}
	for _, name := range []string{identity.KeyFile, identity.SecretFile} {
		info, err := os.Stat(filepath.Join(b.cfg.DataDir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v: want mode 0600", name, info.Mode(), err)
		}
	}
}

// A node that has been in a network does not start another one when its secret is missing; the network's token
// restores it.
func TestMissingSecret(t *testing.T) {
	a, b := openPair(t)
	alone := openMember(t, filepath.Join(t.TempDir(), "alone"), nil)
	alone.run(1, rig.Sh("true"))
	alone.close()
	rig.Await(t, "b saves a", func() bool { return reachability.CountSaved(t.Context(), b.store.Datastore()) > 0 })
	b.close()
	for _, m := range []*member{alone, b} {
		path := filepath.Join(m.cfg.DataDir, identity.SecretFile)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		_, err := tryOpenMember(t, m.cfg.DataDir, nil)
		if err == nil || !strings.Contains(err.Error(), path+" is not there") || !strings.Contains(err.Error(), "--join") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v: want one line with the file and what to do", m.cfg.Name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s has another secret now", m.cfg.Name)
		}
	}
	again := openMember(t, b.cfg.DataDir, nil, a.token())
	waitUp(t, a, again)
	if again.self != b.self || again.secret != a.secret {
		t.Error("with the network's token it is another node, or in another network")
	}
}
