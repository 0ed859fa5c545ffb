package p2p

import (
	"testing"

	"skep/node/p2p/identity"
	"skep/node/p2p/wire"
)

func TestPreparedFolder(t *testing.T) {
	dir := t.TempDir()
	secret := [32]byte{1, 2, 3}
	id, err := Prepare(dir, secret)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Prepare(dir, secret); err != nil || again != id {
		t.Errorf("prepared again it is %v, %v: want %v", again, err, id)
	}
	if _, err := Prepare(dir, [32]byte{9}); err == nil {
		t.Error("a folder of one network was prepared for another")
	}
	text, err := Invite(secret, Member{id, "/ip4/127.0.0.1/tcp/7420"})
	if err != nil {
		t.Fatal(err)
	}
	token, err := wire.ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	if want := "/ip4/127.0.0.1/tcp/7420/p2p/" + identity.Peer(id).String(); token.Secret != secret ||
		len(token.Addrs) != 1 || token.Addrs[0] != want {
		t.Errorf("the token says %v of %v: want %s", token.Addrs, token.Secret, want)
	}
	if _, err := Invite(secret, Member{id, "here"}); err == nil {
		t.Error("a token with an address that is none")
	}
}
