package transport

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/p2p/inbox"
)

// A host that cannot listen leaves nothing behind; TestMain looks for goroutines.
func TestHostThatCannotListen(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	q := inbox.Open()
	defer q.Close()
	const elsewhere = "/ip4/192.0.2.1/tcp/0" // TEST-NET-1 of RFC 5737: no interface has it
	_, err = Open(context.Background(), Config{Self: grid.NodeID(key[32:]), Boot: 1, Key: key, Secret: testSecret,
		Listen: []string{elsewhere}, Contacts: new(contacts), Addrs: proposed{}, Log: slog.New(slog.DiscardHandler), Inbox: q,
		Members: new(Members), Drop: func(string) {}})
	if err == nil || !strings.Contains(err.Error(), elsewhere) {
		t.Errorf("%v: want an error that names %s", err, elsewhere)
	}
}

// What a private network excludes is not linked: each client verb would wait for its initialisation.
func TestTransportsOfPublicNetworksAreNotLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "skep/cmd/skep").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, unwanted := range regexp.MustCompile(`(?m)^(github\.com/(quic-go|pion|gorilla)/\S*|go\.uber\.org/fx)$`).
		FindAllString(string(out), -1) {
		t.Errorf("skep links %s", unwanted)
	}
}
