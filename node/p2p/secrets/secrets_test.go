package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/secret"
)

// alone is a node without any other.
type alone struct{ offences int }

func (*alone) Open(context.Context, grid.NodeID, string) (network.Stream, error) {
	return nil, errors.New("it is not there")
}
func (*alone) IsConnected(grid.NodeID) bool      { return false }
func (a *alone) Offend(grid.NodeID, string, int) { a.offences++ }

var self, other = grid.NodeID{1}, grid.NodeID{2}

func open(t *testing.T, dir string) (*Secrets, *alone) {
	t.Helper()
	peers := &alone{}
	s, err := Open(Config{Self: self, DataDir: dir, Peers: peers, Log: slog.New(slog.DiscardHandler),
		Drop: func(string) {}, Now: func() grid.Time { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	return s, peers
}

func named(owner grid.NodeID, name string) secret.Secret {
	return secret.Secret{ID: secret.ID{Owner: owner, Name: name}, Holders: []grid.NodeID{self},
		Workers: []grid.NodeID{self}, Origins: []secret.Origin{{Node: owner}}}
}

func stored(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	files, _ := filepath.Glob(filepath.Join(dir, folderName, "*"))
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v: want 0600", name, info.Mode(), err)
		}
		b, _ := os.ReadFile(name)
		all[name] = b
	}
	return all
}

// On disk neither values nor names can be read without the key; a node that is started again has them.
func TestSecretsAreEncryptedAtRest(t *testing.T) {
	dir, value := t.TempDir(), []byte("a value of some length")
	s, _ := open(t, dir)
	if err := s.Set(t.Context(), named(self, "db-password"), value); err != nil {
		t.Fatal(err)
	}
	files := stored(t, dir)
	if len(files) != 3 {
		t.Errorf("%d files: want the key, the value, and what was set", len(files))
	}
	for name, b := range files {
		if bytes.Contains(b, value) || bytes.Contains(b, []byte("db-pass")) || strings.Contains(name, "db-pass") {
			t.Errorf("%s tells what it has", name)
		}
	}
	s, _ = open(t, dir)
	if got, err := s.store.value(secret.ID{Owner: self, Name: "db-password"}); err != nil || !bytes.Equal(got, value) {
		t.Errorf("started again: %q, %v", got, err)
	}
	if err := s.Remove(t.Context(), "db-password", false); err != nil || len(stored(t, dir)) != 1 || len(s.List()) != 0 {
		t.Errorf("removed: %v, %d files, %v", err, len(stored(t, dir)), s.List())
	}
}

// A file that was damaged, or put in the place of another, is no secret; without the key the node does not start.
func TestDamagedSecrets(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, dir)
	for _, name := range []string{"first", "second", "third"} {
		if err := s.Set(t.Context(), named(self, name), []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string {
		return filepath.Join(dir, folderName, fileName(heldPrefix, secret.ID{Owner: self, Name: name}))
	}
	b, err := os.ReadFile(file("first"))
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(file("second"), b, 0o600)
	b[len(b)-1] ^= 1
	os.WriteFile(file("first"), b, 0o600)
	s, _ = open(t, dir)
	for _, name := range []string{"first", "second"} {
		if _, there := s.store.get(secret.ID{Owner: self, Name: name}); there {
			t.Errorf("%s is handed out", name)
		}
	}
	if _, there := s.store.get(secret.ID{Owner: self, Name: "third"}); !there {
		t.Error("an undamaged one is not there")
	}
	os.Remove(filepath.Join(dir, folderName, keyName))
	if _, err := Open(s.cfg); err == nil || !strings.Contains(err.Error(), "put it back") {
		t.Errorf("without the key: %v", err)
	}
}

// A node sets and removes its own secrets alone, and only so many; whoever else tries is an offender.
func TestOnlyTheOwnerSetsAndRemoves(t *testing.T) {
	s, peers := open(t, t.TempDir())
	theirs := named(other, "db")
	set := &secret.Request{Op: secret.Set, Secret: theirs, Value: []byte("theirs")}
	if _, err := s.serve(grid.NodeID{3}, set); err == nil || peers.offences != 1 {
		t.Errorf("set by another: %v, %d offences", err, peers.offences)
	}
	if _, err := s.serve(other, set); err != nil {
		t.Error(err)
	}
	remove := &secret.Request{Op: secret.Remove, Secret: secret.Secret{ID: theirs.ID}}
	if _, err := s.serve(grid.NodeID{3}, remove); err == nil || peers.offences != 2 {
		t.Errorf("removed by another: %v, %d offences", err, peers.offences)
	}
	if _, there := s.store.get(theirs.ID); !there {
		t.Error("it is gone")
	}
	look := &secret.Request{Op: secret.Look, Secret: secret.Secret{ID: secret.ID{Name: "db"}}}
	if b, err := s.serve(other, look); err != nil || bytes.Contains(b, []byte("theirs")) {
		t.Errorf("looked at by an origin: %q, %v", b, err)
	}
	if _, err := s.serve(grid.NodeID{3}, look); err == nil {
		t.Error("looked at by a node whose jobs may not use it")
	}
	for i := range secret.MaxOfOwner {
		of := named(other, fmt.Sprint("n", i))
		_, err := s.serve(other, &secret.Request{Op: secret.Set, Secret: of, Value: []byte("x")})
		if full := i == secret.MaxOfOwner-1; full != (err != nil) {
			t.Errorf("number %d: %v", i+2, err)
		}
	}
	if _, err := s.serve(other, &secret.Request{Op: secret.Remove, Secret: secret.Secret{ID: theirs.ID}}); err != nil {
		t.Error(err)
	}
}

// However often a member asks in vain, it does not fill the log.
func TestWhatIsDeniedDoesNotFillTheLog(t *testing.T) {
	s, _ := open(t, t.TempDir())
	var log bytes.Buffer
	s.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	for range 1000 {
		r := &secret.Request{Op: secret.Get, Secret: secret.Secret{ID: secret.ID{Owner: other, Name: "db"}}}
		if _, err := s.serve(other, r); err == nil {
			t.Fatal("handed out")
		}
	}
	if n := bytes.Count(log.Bytes(), []byte("\n")); n < 1 || n > 500 {
		t.Errorf("%d lines", n)
	}
}

// A holder that is away is named, and what it was to get can be set again.
func TestSetWhileAHolderIsAway(t *testing.T) {
	s, _ := open(t, t.TempDir())
	of := named(self, "db")
	of.Holders = []grid.NodeID{self, other}
	if err := s.Set(t.Context(), of, []byte("x")); err == nil || !strings.Contains(err.Error(), other.Short()) ||
		strings.Contains(err.Error(), self.Short()) {
		t.Errorf("%v: want the node that is away", err)
	}
	if err := s.Remove(t.Context(), "db", false); err == nil || len(s.List()) != 1 {
		t.Errorf("%v, %v: want that it is known until all have forgotten it", err, s.List())
	}

	// One that held it before is told until it answers, also by a node that was started again meanwhile.
	of.Holders = []grid.NodeID{self}
	for range 2 {
		if err := s.Set(t.Context(), of, []byte("y")); err == nil || !strings.Contains(err.Error(), "value of then") {
			t.Errorf("%v: want that the node which is away still has it", err)
		}
		s, _ = open(t, s.cfg.DataDir)
	}
	if err := s.Remove(t.Context(), "db", false); err == nil || !strings.Contains(err.Error(), other.Short()) {
		t.Errorf("removed: %v: want the node that is away", err)
	}
	if held, _ := s.store.get(secret.ID{Owner: self, Name: "db"}); len(held.Former) > 0 {
		t.Errorf("what is held says %v", held.Former)
	}
	if err := s.Remove(t.Context(), "db", true); err != nil || len(s.List()) > 0 {
		t.Errorf("removed although a node is away: %v, %v", err, s.List())
	}
}
