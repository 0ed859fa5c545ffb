package client

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// Remote is what a client needs to reach a node over TCP. Its text form is a URL, which contains the token:
// https://TOKEN@ADDRESS:PORT/#sha256=HASH
type Remote struct {
	Addr  string            // host and port
	Token string            // of the node's data folder
	Sum   [sha256.Size]byte // SHA-256 of the listener's certificate; zero: no TLS, on this machine alone
}

const sumField = "sha256="

// String returns the URL.
func (r Remote) String() string {
	u := url.URL{Scheme: "https", User: url.User(r.Token), Host: r.Addr, Path: "/",
		Fragment: sumField + hex.EncodeToString(r.Sum[:])}
	if !r.secure() {
		u.Scheme, u.Fragment = "http", ""
	}
	return u.String()
}

func (r Remote) secure() bool { return r.Sum != [sha256.Size]byte{} }

// ParseRemote parses what String returns. Errors do not contain the token.
func ParseRemote(s string) (r Remote, err error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return r, errors.New("remote node: is no URL: want what skep node token --api prints, " +
			"https://TOKEN@ADDRESS:PORT/#sha256=HASH")
	}
	r = Remote{Addr: u.Host, Token: u.User.Username()}
	if u.Hostname() == "" || u.Port() == "" {
		return r, fmt.Errorf("remote node %q: want an address and a port", u.Host)
	}
	if r.Token == "" {
		return r, fmt.Errorf("remote node %s: has no token: want it before the address, as in https://TOKEN@%s",
			r.Addr, r.Addr)
	}
	if u.Scheme == "http" {
		if ip, err := netip.ParseAddr(u.Hostname()); u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
			return r, fmt.Errorf("remote node %s: over http anybody on the way could read the token: "+
				"want https, or an address of this machine", r.Addr)
		}
		return r, nil
	}
	text, ok := strings.CutPrefix(u.Fragment, sumField)
	sum, err := hex.DecodeString(text)
	if copy(r.Sum[:], sum); !ok || err != nil || len(sum) != len(r.Sum) || !r.secure() {
		return r,
			fmt.Errorf("remote node %s: want #sha256= and the %d hexadecimal digits of its certificate's hash at the end",
				r.Addr, 2*len(r.Sum))
	}
	return r, nil
}

// CertificateError reports a server at an address that does not have the expected certificate.
type CertificateError struct {
	Addr      string
	Got, Want [sha256.Size]byte
}

// Error says what that may mean.
func (e *CertificateError) Error() string {
	return fmt.Sprintf("the node at %s has the certificate with SHA-256 %x, not %x: its certificate was made anew, "+
		"which skep node token --api on its machine tells, or somebody else answers there", e.Addr, e.Got, e.Want)
}

// connectTime bounds connecting to a node on another machine.
const connectTime = 10 * time.Second

// OpenRemote returns a client of a node on another machine, which saves capabilities in a folder here. It connects
// with the first request. The token is sent only to the holder of the certificate's key.
func OpenRemote(r Remote, dir string) *Client {
	c := &Client{token: r.Token, scheme: "http", host: r.Addr,
		caps: capabilities{dir: filepath.Join(dir, CapabilityFolder)}}
	t := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8, TLSHandshakeTimeout: connectTime,
		ExpectContinueTimeout: untilAsked,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := (&net.Dialer{Timeout: connectTime}).DialContext(ctx, network, addr)
			if err != nil && ctx.Err() == nil {
				return nil, &NoNodeError{Addr: r.Addr, Err: err}
			}
			return conn, err
		}}
	if r.secure() {
		c.scheme, t.TLSClientConfig = "https", r.tls()
	}
	c.http = &http.Client{Transport: t}
	return c
}

// tls expects the certificate itself; issuer, name and validity are ignored.
func (r Remote) tls() *tls.Config {
	verify := func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return fmt.Errorf("the node at %s has no certificate", r.Addr)
		}
		if got := sha256.Sum256(s.PeerCertificates[0].Raw); got != r.Sum {
			return &CertificateError{Addr: r.Addr, Got: got, Want: r.Sum}
		}
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, VerifyConnection: verify}
}
