package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"skep/node/api/client"
	"skep/node/api/v1"
)

// A process of the same user opens connections to the socket as fast as it can and sends little. The number that
// the node holds is bounded, and clients with the token are served.
func TestUnauthenticatedConnectionsAreEvicted(t *testing.T) {
	f := newFake(t, 1, "alpha")
	c, dir, _ := f.open(Options{})
	addr, release, err := client.SocketAddr(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	const more = 64
	var conns []net.Conn
	for range connLimit() + more {
		conn, err := net.Dial("unix", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n"))
		conns = append(conns, conn)
	}
	if _, err := c.Submit(context.Background(), client.Draw(), &v1.Spec{Command: []string{"true"}}); err != nil {
		t.Errorf("who has the token is not served: %v", err)
	}
	closed := 0
	for _, conn := range conns[:more] {
		conn.SetReadDeadline(time.Now().Add(headerTime / 4))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		closed++
	}
	if closed != more {
		t.Errorf("%d of the first %d connections were closed for later ones: want all", closed, more)
	}
	last := conns[len(conns)-1]
	last.SetDeadline(time.Now().Add(headerTime))
	last.Write([]byte("\r\n"))
	if _, err := last.Read(make([]byte, 1)); err != nil {
		t.Errorf("the last connection: %v", err)
	}
}

// Connections that have shown the token are not closed.
func TestAuthenticatedConnectionsAreKept(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	c := newConnLimiter(l, 2)
	defer c.Close()
	accepted := make(chan *limitedConn, 8)
	go func() {
		for {
			conn, err := c.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- conn.(*limitedConn)
		}
	}()
	dial := func() net.Conn {
		conn, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	dial()
	first := <-accepted
	first.authenticated()
	stranger := dial()
	<-accepted
	dial()
	third := <-accepted
	if _, err := stranger.Read(make([]byte, 1)); err == nil {
		t.Error("who has not shown the token stays")
	}
	third.authenticated()
	dial()
	select {
	case <-accepted:
		t.Error("there are more connections than there may be")
	default:
	}
	first.Close()
	first.Close()
	<-accepted
	c.mu.Lock()
	open := c.open
	c.mu.Unlock()
	if open != 2 {
		t.Errorf("%d open: want the two that have not ended", open)
	}
	dial()
	c.Close() // also while Accept waits
}

// failingListener is a listener for which there is no descriptor at first.
type failingListener struct {
	net.Listener
	refused atomic.Int64
}

func (s *failingListener) Accept() (net.Conn, error) {
	if s.refused.Add(1) <= 3 {
		return nil, &net.OpError{Op: "accept", Net: "unix", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return s.Listener.Accept()
}

// Accepting continues when descriptors are available again.
func TestAcceptRetriesWithoutDescriptors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(newFake(t, 1, "alpha"), Options{})
	srv := s.server(s.LocalHandler())
	ended := make(chan error, 1)
	go func() { ended <- serve(srv, listener{Listener: &failingListener{Listener: l}, tcp: true}) }()
	status, _ := ask(t, http.MethodGet, "http://"+l.Addr().String()+"/healthz", "")
	if status != http.StatusOK {
		t.Errorf("status %d: want 200", status)
	}
	srv.Close()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("the listener ended: %v", err)
	}
}
