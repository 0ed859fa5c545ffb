package api

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/node/api/client"
)

// listen opens the API of a node at an address, and returns the Remote from its folder.
func listen(t *testing.T, dir, addr string) (client.Remote, *Listeners) {
	t.Helper()
	l, err := Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Open(dir); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- New(newFake(t, 1, "alpha"), Options{Log: slog.New(slog.DiscardHandler)}).Serve(ctx, l)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, client.RemoteName)); err == nil {
			t.Errorf("%s is left of a node that has stopped", client.RemoteName)
		}
	})
	b, err := os.ReadFile(filepath.Join(dir, client.RemoteName))
	if err != nil {
		t.Fatal(err)
	}
	r, err := client.ParseRemote(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return r, l
}

// Regression: the API spoke plain HTTP to other machines, so anybody on the path could read the token, which allows
// running programs.
func TestRemoteListenerUsesTLS(t *testing.T) {
	dir := t.TempDir()
	r, l := listen(t, dir, "0.0.0.0:0")
	for _, name := range []string{client.CertificateName, client.RemoteName} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v: want mode 0600", name, st.Mode(), err)
		}
	}
	if urls := l.URLs(); len(urls) != 1 || !strings.HasPrefix(urls[0], "https://") {
		t.Errorf("it listens at %q", urls)
	}
	c := client.OpenRemote(r, t.TempDir())
	defer c.Close()
	if v, err := c.Version(t.Context()); err != nil || v.Node == "" {
		t.Errorf("%+v, %v", v, err)
	}
	if l, err := c.Nodes(t.Context()); err != nil || len(l.Nodes) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	req, _ := http.NewRequest(http.MethodGet, "http://"+r.Addr+"/v1/version", nil)
	req.Header.Set("Authorization", "Bearer "+r.Token)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK || strings.Contains(string(b), "node") {
			t.Errorf("over plain HTTP it answers %s, %s", resp.Status, b)
		}
	}
	// A browser shows the certificate's fingerprint, and uses no older version.
	if conn, err := tls.Dial("tcp", r.Addr,
		&tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}); err == nil {
		conn.Close()
		t.Error("it speaks TLS 1.2")
	}
	conn, err := tls.Dial("tcp", r.Addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if s := conn.ConnectionState(); sha256.Sum256(s.PeerCertificates[0].Raw) != r.Sum || s.NegotiatedProtocol != "h2" {
		t.Errorf("%s, and another certificate than %x", s.NegotiatedProtocol, r.Sum)
	}
}

// Connections of this machine stay plain.
func TestLoopbackIsPlain(t *testing.T) {
	dir := t.TempDir()
	r, l := listen(t, dir, "127.0.0.1:0")
	c := client.OpenRemote(r, t.TempDir())
	defer c.Close()
	if _, err := c.Version(t.Context()); err != nil || r.Sum != [32]byte{} || !strings.HasPrefix(l.URLs()[0], "http://") {
		t.Errorf("%+v at %q, %v", r, l.URLs(), err)
	}
	if _, err := os.Stat(filepath.Join(dir, client.CertificateName)); err == nil {
		t.Error("a certificate that nobody needs")
	}
}

// A server in the node's place gets no token, and the client reports it.
func TestAnotherCertificate(t *testing.T) {
	asked := make(chan string, 1)
	impostor := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
	}))
	defer impostor.Close()
	impostor.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	r := client.Remote{Addr: impostor.Listener.Addr().String(), Token: strings.Repeat("0123456789abcdef", 4),
		Sum: [32]byte{1}}
	c := client.OpenRemote(r, t.TempDir())
	defer c.Close()
	_, err := c.Version(t.Context())
	var other *client.CertificateError
	if !errors.As(err, &other) || other.Addr != r.Addr || other.Want != r.Sum || strings.Contains(err.Error(), "\n") ||
		strings.Contains(err.Error(), r.Token) {
		t.Errorf("error %v", err)
	}
	if other != nil && other.Got != sha256.Sum256(impostor.Certificate().Raw) {
		t.Errorf("got %x", other.Got)
	}
	select {
	case auth := <-asked:
		t.Errorf("somebody else was told %q", auth)
	default:
	}
	impostor.Close()
	var no *client.NoNodeError
	if _, err := c.Version(t.Context()); !errors.As(err, &no) ||
		!strings.Contains(err.Error(), "no node answers at "+r.Addr) || strings.Contains(err.Error(), "\n") {
		t.Errorf("nobody is there: %v", err)
	}
}

// The certificate is made once; a truncated file is an error that names it.
func TestCertificateIsReused(t *testing.T) {
	path := filepath.Join(t.TempDir(), client.CertificateName)
	hosts := []net.IP{net.IPv4(192, 0, 2, 1)}
	first, err := loadCertificate(path, hosts)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := loadCertificate(path, nil)
	if err != nil || sumOf(again) != sumOf(first) {
		t.Errorf("%x, then %x, %v", sumOf(first), sumOf(again), err)
	}
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	if err := first.Leaf.VerifyHostname("192.0.2.1"); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(path, 200); err != nil {
		t.Fatal(err)
	}
	if _, err := loadCertificate(path, hosts); err == nil || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "remove it to have new ones made") {
		t.Errorf("cut: %v", err)
	}
}

func TestParseRemote(t *testing.T) {
	const token = "secret0123456789"
	sum := strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		"https://" + token + "@192.0.2.1:7420/#sha256=" + sum: "", "https://" + token + "@[2001:db8::1]:7420/#sha256=" +
			sum: "", "https://" + token + "@anthill:1#sha256=" + sum: "",
		"http://" + token + "@127.0.0.1:7420/": "", "http://" + token + "@localhost:7420": "",
		"": "is no URL", "skep1-abc": "is no URL", "https://%zz" + token: "is no URL",
		"https://" + token + "@192.0.2.1/#sha256=" + sum:                           "want an address and a port",
		"https://192.0.2.1:7420/#sha256=" + sum:                                    "has no token",
		"https://" + token + "@192.0.2.1:7420/":                                    "digits of its certificate's hash",
		"https://" + token + "@192.0.2.1:7420/#sha256=abcd":                        "digits of its certificate's hash",
		"https://" + token + "@192.0.2.1:7420/#sha256=" + strings.Repeat("00", 32): "hash",
		"http://" + token +
			"@192.0.2.1:7420/": "over http anybody on the way could read the token",
		"http://" + token + "@anthill:7420/": "over http anybody",
	} {
		r, err := client.ParseRemote(text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want == "":
			if again, err := client.ParseRemote(r.String()); err != nil || again != r || r.Token != token {
				t.Errorf("%s: %+v, %v", text, again, err)
			}
		case err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), token):
			t.Errorf("%q: error %v, want %q and no token", text, err, want)
		}
	}
}

// However many connections others open without the token, and keep, a client with the token is answered.
func TestUnauthenticatedRemotesKeepNobodyOut(t *testing.T) {
	r, _ := listen(t, t.TempDir(), "0.0.0.0:0")
	for i := range connLimit() + 10 {
		c, err := net.Dial("tcp", r.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			continue
		}
		s := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		s.SetDeadline(time.Now().Add(5 * time.Second))
		fmt.Fprintf(s, "GET /v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n")
		b, _ := io.ReadAll(s)
		if !strings.Contains(string(b), "401") || !strings.Contains(string(b), "Connection: close") {
			t.Fatalf("connection %d without the token: %.100q: want 401, and the connection closed", i, b)
		}
	}
	c := client.OpenRemote(r, t.TempDir())
	defer c.Close()
	if _, err := c.Version(t.Context()); err != nil {
		t.Error(err)
	}
}
