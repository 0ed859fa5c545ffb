package api

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"skep/node/api/client"
	"skep/node/p2p/disk"
)

// Listeners are the local listeners of the API, and the token that it asks for.
type Listeners struct {
	token     string
	listeners []listener
	once      sync.Once
	closers   []func()
}

// listener is one socket.
type listener struct {
	net.Listener
	tcp bool
	any bool             // other machines can connect: any IP address is a valid Host, and TLS is used
	tls *tls.Certificate // if any is set
}

// Listen opens the TCP address if one is given. It is separate from Open, because it can fail before a data folder
// is touched.
func Listen(addr string) (*Listeners, error) {
	l := &Listeners{}
	if addr == "" {
		return l, nil
	}
	return l, l.listenTCP(addr)
}

// Open opens the socket in a data folder that belongs to the caller alone, and creates the token's file if it does
// not exist. A socket that nobody serves is left over from a crash and replaced.
func (l *Listeners) Open(dir string) (err error) {
	if l.token, err = loadToken(filepath.Join(dir, client.TokenName)); err != nil {
		return err
	}
	if err := l.openTCP(dir); err != nil {
		return err
	}
	return l.unix(dir)
}

// openTCP gives the TCP listener its certificate if it needs one, and writes the file that a client elsewhere
// needs.
func (l *Listeners) openTCP(dir string) (err error) {
	path := filepath.Join(dir, client.RemoteName)
	os.Remove(path) // a crash may have left it
	for i := range l.listeners {
		d := &l.listeners[i]
		if !d.tcp {
			continue
		}
		hosts := dialableIPs(d.Addr())
		r := client.Remote{Addr: d.Addr().String(), Token: l.token}
		if d.any {
			if d.tls, err = loadCertificate(filepath.Join(dir, client.CertificateName), hosts); err != nil {
				return err
			}
			_, port, _ := net.SplitHostPort(r.Addr)
			r.Addr, r.Sum = net.JoinHostPort(hosts[0].String(), port), sumOf(d.tls)
		}
		if err := disk.WriteFile(path, []byte(r.String()+"\n")); err != nil {
			return fmt.Errorf("api: %w", err)
		}
		l.closers = append(l.closers, func() { os.Remove(path) })
	}
	return nil
}

// URLs returns the API's TCP URLs.
func (l *Listeners) URLs() (urls []string) {
	for _, d := range l.listeners {
		switch {
		case d.tls != nil:
			urls = append(urls, "https://"+d.Addr().String())
		case d.tcp:
			urls = append(urls, "http://"+d.Addr().String())
		}
	}
	return urls
}

// Close closes all listeners and removes the socket.
func (l *Listeners) Close() {
	l.once.Do(func() {
		for _, d := range l.listeners {
			d.Close()
		}
		for _, f := range l.closers {
			f()
		}
	})
}

func (l *Listeners) unix(dir string) error {
	path := filepath.Join(dir, client.SocketName)
	addr, release, err := client.SocketAddr(dir)
	if err != nil {
		return err
	}
	if err := clearSocket(path, addr); err != nil {
		release()
		return err
	}
	// The folder is its owner's alone, so nobody can connect before the socket's own mode is set.
	u, err := net.Listen("unix", addr)
	if err != nil {
		release()
		return fmt.Errorf("socket %s: %w", path, err)
	}
	u.(*net.UnixListener).SetUnlinkOnClose(false)
	l.listeners = append([]listener{{Listener: u}}, l.listeners...)
	l.closers = append(l.closers, func() { os.Remove(path) }, release)
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("socket %s: %w", path, err)
	}
	return nil
}

// clearSocket removes a socket that nobody serves.
func clearSocket(path, addr string) error {
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("socket %s: %w", path, err)
	}
	if st.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s: is in the way of the node's socket: move it away", path)
	}
	if c, err := net.DialTimeout("unix", addr, time.Second); err == nil {
		c.Close()
		return fmt.Errorf("data folder %s: a node answers there already: stop it, or choose another --data-dir",
			filepath.Dir(path))
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("socket %s: is left over and cannot be removed: %w", path, err)
	}
	return nil
}

func (l *Listeners) listenTCP(addr string) error {
	any, err := checkAddr(addr)
	if err != nil {
		return err
	}
	t, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("api %s: %w", addr, err)
	}
	l.listeners = append(l.listeners, listener{Listener: t, tcp: true, any: any})
	return nil
}

// checkAddr reports whether other machines can reach an address. That takes a literal IP address: a port alone, or
// a name, might do it by accident.
func checkAddr(addr string) (any bool, err error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, fmt.Errorf("api %q: want an address and a port, as in 127.0.0.1:7420", addr)
	}
	if host == "localhost" {
		return false, nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false, fmt.Errorf("api %q: want 127.0.0.1 or localhost before the port; "+
			"to open it to other machines, write the IP address to listen on, or 0.0.0.0", addr)
	}
	return !ip.IsLoopback(), nil
}

// loadToken reads the token, and creates it if it does not exist.
func loadToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err == nil {
		t := strings.TrimSpace(string(b))
		if len(t) < 32 || strings.ContainsRune(t, 0) { // zeros are what a crash can leave of a file
			return "", fmt.Errorf("%s: has no token of 32 characters or more: remove it to have a new one made", path)
		}
		return t, os.Chmod(path, 0o600)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("api token: %w", err)
	}
	var raw [32]byte
	rand.Read(raw[:])
	t := hex.EncodeToString(raw[:])
	if err := disk.WriteFile(path, []byte(t+"\n")); err != nil {
		return "", fmt.Errorf("api token: %w", err)
	}
	return t, nil
}
