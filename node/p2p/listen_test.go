package p2p

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"skep/node/p2p/internal/rig"
	"skep/node/p2p/reachability"
	"skep/node/p2p/transport"
)

// listensAt is where a member listens.
func (m *member) listensAt(t *testing.T) *net.TCPAddr {
	t.Helper()
	for _, a := range m.transport.Host().Network().ListenAddresses() {
		if at, err := transport.TCPAddr(a.String()); err == nil {
			return at
		}
	}
	t.Fatal("it listens nowhere")
	return nil
}

// A port of the last run may be free when it is looked at and taken when it is opened: then any does. Stated ports are
// tried once.
func TestPortOfTheLastRunTakenMeanwhile(t *testing.T) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close() // free again
	const anyPort = "/ip4/127.0.0.1/tcp/0"
	ports := lastPorts{anyPort: port}
	last := fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port)
	taken := errors.New("address already in use")
	for _, x := range []struct {
		stated, first string
		tries         int
		fails         bool
	}{
		{anyPort, last, 2, false},
		{"/ip4/127.0.0.1/tcp/4001", "/ip4/127.0.0.1/tcp/4001", 1, true},
	} {
		var tried []string
		err := ports.open([]string{x.stated}, func(listen []string) error {
			if tried = append(tried, listen...); len(tried) == 1 {
				return taken
			}
			return nil
		})
		if len(tried) != x.tries || tried[0] != x.first || tried[len(tried)-1] != x.stated || (err != nil) != x.fails {
			t.Errorf("%s: tried %v, ended with %v", x.stated, tried, err)
		}
	}
}

// Nobody has told them a port and nothing announces them on the local network.
func TestNodesThatWereAllDownFindEachOther(t *testing.T) {
	a, b := openPair(t)
	for _, m := range []*member{a, b} {
		rig.Await(t, "it saves the other", func() bool {
			return reachability.CountSaved(t.Context(), m.store.Datastore()) > 0
		})
	}
	a.close()
	b.close()
	waitUp(t, openMember(t, a.cfg.DataDir, nil), openMember(t, b.cfg.DataDir, nil))
}

// A port that another process has by now is left to it, and one that is stated is no other.
func TestPortOfTheLastRun(t *testing.T) {
	a := openMember(t, t.TempDir(), nil)
	first := a.listensAt(t)
	a.close()
	l, err := net.ListenTCP("tcp", first)
	if err != nil {
		t.Fatal(err)
	}
	a = openMember(t, a.cfg.DataDir, nil)
	second := a.listensAt(t)
	if second.Port == first.Port {
		t.Errorf("it shares port %d with another process", first.Port)
	}
	l.Close()
	a.close()
	rig.Await(t, "no connection of another test has the port", func() bool {
		l, err := net.ListenTCP("tcp", second)
		return err == nil && l.Close() == nil
	})
	a = openMember(t, a.cfg.DataDir, nil)
	if third := a.listensAt(t); third.Port != second.Port {
		t.Errorf("port %d, want that of the last run, %d", third.Port, second.Port)
	}
	a.close()
	a = openMember(t, a.cfg.DataDir, func(c *Config) { c.Listen = []string{"/ip4/127.0.0.2/tcp/0"} })
	other := a.listensAt(t)
	if other.Port == second.Port || other.IP.String() != "127.0.0.2" {
		t.Errorf("listens on %v, want any port of the stated address", other)
	}
	p := readPorts(t.Context(), a.store.Datastore())
	if p["/ip4/127.0.0.1/tcp/0"] != second.Port || p["/ip4/127.0.0.2/tcp/0"] != other.Port {
		t.Errorf("kept for the next run: %v, want ports %d and %d", p, second.Port, other.Port)
	}
}

// A node that is started at ever other addresses keeps the ports of a few.
func TestLastPortsAreBounded(t *testing.T) {
	m := openMember(t, t.TempDir(), nil)
	p := make(lastPorts)
	for i := range 2 * maxLastPorts {
		p[fmt.Sprintf("/ip4/10.0.0.%d/tcp/0", i)] = 4001
	}
	const listen = "/ip4/127.0.0.1/tcp/0"
	bound := m.transport.Host().Network().ListenAddresses()
	if err := p.save(t.Context(), m.store.Datastore(), []string{listen}, bound); err != nil {
		t.Fatal(err)
	}
	kept := readPorts(t.Context(), m.store.Datastore())
	if len(kept) != maxLastPorts || kept[listen] != m.listensAt(t).Port {
		t.Errorf("kept %v: want %d, with that of %s", kept, maxLastPorts, listen)
	}
}
