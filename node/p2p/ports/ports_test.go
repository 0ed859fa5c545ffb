package ports

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"

	"skep/exec/network"
	"skep/grid"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/wire"
)

// accepted is the next connection of a listener.
func accepted(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A rank is reached while it listens, in the name of who connects; each direction of a connection ends by itself.
func TestConnectionsReachTheirRank(t *testing.T) {
	pods, members := gang(t, 1, sites(t, 2)...)
	to := network.Endpoint{Rank: 0, Port: 80}
	l := pods[0].listen(t, to)
	out := pods[1].connect(t, to)
	in := accepted(t, l)
	big := bytes.Repeat([]byte("0123456789"), 300_000)
	go func() {
		out.Write(big)
		out.(*net.TCPConn).CloseWrite()
	}()
	if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, big) {
		t.Fatalf("%d of %d bytes come, %v", len(got), len(big), err)
	}
	in.Write([]byte("answer"))
	in.Close()
	if got, err := io.ReadAll(out); err != nil || string(got) != "answer" {
		t.Errorf("%q, %v", got, err)
	}
	pods[0].mu.Lock()
	if !slices.Equal(pods[0].from, []int{1}) {
		t.Errorf("connections of ranks %v: want 1", pods[0].from)
	}
	pods[0].mu.Unlock()
	pods[0].quit(to)
	rig.Await(t, "the end of the port", func() bool { return !pods[1].reached(to) })
	rig.Await(t, "the end of the connections", func() bool {
		return members[0].proxies.shares.connections()+members[1].proxies.shares.connections() == 0
	})
}

// A connection that breaks on one side breaks on the other.
func TestBrokenConnections(t *testing.T) {
	pods, _ := gang(t, 1, sites(t, 2)...)
	to := network.Endpoint{Rank: 1, Port: 81}
	l := pods[1].listen(t, to)
	out := pods[0].connect(t, to)
	abort(accepted(t, l))
	if _, err := out.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v: want a reset", err)
	}
}

// A port that is not named, or on which nobody listens, is reached by nobody; the end of an attempt breaks its
// connections, and another one has none of its ports.
func TestOnlyNamedPortsOfTheAttempt(t *testing.T) {
	at := sites(t, 2)
	pods, members := gang(t, 1, at...)
	later, _ := gang(t, 2, at...)
	named, other := network.Endpoint{Rank: 0, Port: 80}, network.Endpoint{Rank: 0, Port: 82}
	pods[0].listen(t, other)
	l := pods[0].listen(t, named)
	out := pods[1].connect(t, named)
	accepted(t, l)
	if pods[1].reached(other) || later[1].reached(named) {
		t.Error("a port is reached that is not named, or is of another attempt")
	}
	members[0].Close()
	if _, err := out.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v after the end of the attempt: want a reset", err)
	}
	if !pods[0].closed {
		t.Error("the pod is not closed")
	}
	rig.Await(t, "the end of the ports", func() bool { return !pods[1].reached(named) })
}

// Streams of strangers, in the name of others, for ranks elsewhere and for other ports are reset, and a list with false
// entries counts for nothing.
func TestStrangers(t *testing.T) {
	at := sites(t, 3)
	pods, _ := gang(t, 1, at[0], at[1])
	pods[0].listen(t, network.Endpoint{Rank: 0, Port: 80})
	id := grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: 1}}
	status := func(by *site, a ask) (byte, error) {
		st, err := by.Open(t.Context(), at[0].id, Protocol)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Reset()
		st.Write(a.encode())
		b := make([]byte, 1)
		_, err = io.ReadFull(st, b)
		return b[0], err
	}
	good := ask{id: id, from: 1, to: network.Endpoint{Rank: 0, Port: 80}}
	if s, err := status(at[1], good); err != nil || s != wire.StatusOK {
		t.Fatalf("status %d, %v: want that the rank is reached", s, err)
	}
	for what, a := range map[string]func(*ask){
		"in the name of another rank":  func(a *ask) { a.from = 0 },
		"of a rank that there is not":  func(a *ask) { a.from = 2 },
		"for a rank elsewhere":         func(a *ask) { a.to.Rank = 1 },
		"for a rank that there is not": func(a *ask) { a.to.Rank = 2 },
		"for a port that is not named": func(a *ask) { a.to.Port = 82 },
	} {
		bad := good
		a(&bad)
		if s, err := status(at[1], bad); err == nil {
			t.Errorf("a stream %s: status %d, want a reset", what, s)
		}
	}
	for what, a := range map[string]ask{"a connection": good, "a list": {id: id}} {
		if s, err := status(at[2], a); err == nil {
			t.Errorf("a stranger asks for %s: status %d, want a reset", what, s)
		}
	}
	good.id.N = 7
	if s, err := status(at[1], good); err != nil || s != wire.StatusNone {
		t.Errorf("status %d, %v for an attempt that is not there: want that it says so", s, err)
	}
	may := func(e network.Endpoint) bool { return e.Rank == 1 && e.Port < 90 }
	at80, at81 := network.Endpoint{Rank: 1, Port: 80}, network.Endpoint{Rank: 1, Port: 81}
	for what, list := range map[string][]network.Endpoint{
		"another's rank": {{Port: 80}}, "another port": {{Rank: 1, Port: 90}}, "no order": {at81, at80},
		"one twice": {at80, at80}, "too many": {at80, at81, {Rank: 1, Port: 82}},
	} {
		if _, err := readList(bytes.NewReader(encodeList(list)), 2, may); !errors.Is(err, errFalse) {
			t.Errorf("a list with %s: %v", what, err)
		}
	}
}

// Beyond the bounds connections are ended at once, and again carried when there are fewer.
func TestConnectionsAreBounded(t *testing.T) {
	pods, members := gang(t, 1, sites(t, 2)...)
	to := network.Endpoint{Rank: 0, Port: 80}
	l := pods[0].listen(t, to)
	first := pods[1].connect(t, to)
	in := accepted(t, l)
	for _, m := range []*Member{members[1], members[0]} { // where it begins, and where it ends
		of, n := m.proxies.shares, m.layout.Nodes[to.Rank]
		if m == members[0] {
			n = m.layout.Nodes[1]
		}
		held := 0
		for of.connect(m.layout.ID, n) {
			held++
		}
		out := pods[1].connect(t, to)
		if _, err := out.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%v: want that a connection too many is reset", err)
		}
		for range held {
			of.disconnect(m.layout.ID, n)
		}
	}
	in.Write([]byte("x"))
	if _, err := io.ReadFull(first, make([]byte, 1)); err != nil {
		t.Errorf("the connection before: %v", err)
	}
	pods[1].connect(t, to).Write([]byte("y"))
	if _, err := io.ReadFull(accepted(t, l), make([]byte, 1)); err != nil {
		t.Errorf("the connection after: %v", err)
	}
	if c := members[1].Counts(); c.Full == 0 { // other processes' tests may reach a port of this machine, too
		t.Errorf("%+v: want that one was too many here", c)
	}
}

// A port that a rank here has taken for all addresses is tried again when it is free.
func TestPortInTheWay(t *testing.T) {
	pods, _ := gang(t, 1, sites(t, 2)...)
	pods[1].mu.Lock()
	pods[1].inTheWay = true
	pods[1].mu.Unlock()
	to := network.Endpoint{Rank: 0, Port: 80}
	l := pods[0].listen(t, to)
	rig.Await(t, "the first try", func() bool {
		pods[1].mu.Lock()
		defer pods[1].mu.Unlock()
		return pods[1].tries > 0
	})
	pods[1].mu.Lock()
	pods[1].inTheWay = false
	pods[1].mu.Unlock()
	pods[1].connect(t, to)
	accepted(t, l)
}
