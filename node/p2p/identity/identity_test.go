package identity

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"skep/grid"
)

func TestPeerAndNode(t *testing.T) {
	key, err := LoadKey(t.TempDir(), grid.NodeID{})
	if err != nil {
		t.Fatal(err)
	}
	self := grid.NodeID(key.Public().(ed25519.PublicKey))
	priv, err := crypto.UnmarshalEd25519PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPrivateKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	if Peer(self) != id {
		t.Errorf("peer of %v is %v: want libp2p's %v", self, Peer(self), id)
	}
	if n, ok := Node(id); !ok || n != self {
		t.Errorf("node of %v is %v, %v", id, n, ok)
	}
	if _, ok := Node("QmcgpsyWgH8Y8ajJz1Cu72KnS5uo2Aa2LpzU7kinSupNKC"); ok {
		t.Error("a peer without an Ed25519 key is a node")
	}
}

func TestKeyAndSecretAreKept(t *testing.T) {
	dir := t.TempDir()
	key, err := LoadKey(dir, grid.NodeID{})
	if err != nil {
		t.Fatal(err)
	}
	secret, made, err := LoadSecret(dir, nil)
	if err != nil || !made {
		t.Fatalf("secret of a new folder: made %v, %v", made, err)
	}
	if err := SaveSecret(dir, secret); err != nil {
		t.Fatal(err)
	}
	owner := grid.NodeID(key.Public().(ed25519.PublicKey))
	if again, err := LoadKey(dir, owner); err != nil || !again.Equal(key) {
		t.Errorf("another key, or %v", err)
	}
	if again, made, err := LoadSecret(dir, &secret); err != nil || made || again != secret {
		t.Errorf("another secret, made %v, or %v", made, err)
	}
	if _, _, err := LoadSecret(dir, &[32]byte{1}); err == nil {
		t.Error("a token of another network is no error")
	}
	if _, err := LoadKey(dir, grid.NodeID{1}); err == nil {
		t.Error("the key of another node is no error")
	}
	for _, name := range []string{KeyFile, SecretFile} {
		if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := LoadKey(dir, owner); err == nil {
		t.Error("a key that others can read is no error")
	}
	if _, _, err := LoadSecret(dir, nil); err == nil {
		t.Error("a secret that others can read is no error")
	}
}
