package api

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"time"

	"skep/node/p2p/disk"
)

// certificateTime is how long a certificate is valid. Clients identify it by its hash and ignore this; a browser
// does not, and a new one has to be distributed to every client.
const certificateTime = 20 * 365 * 24 * time.Hour

// loadCertificate reads the key and the certificate of the listener for other machines, and creates them if they do
// not exist.
func loadCertificate(path string, hosts []net.IP) (*tls.Certificate, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if b, err = makeCertificate(hosts, time.Now()); err == nil {
			err = disk.WriteFile(path, b)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("api certificate: %w", err)
	}
	c, err := tls.X509KeyPair(b, b)
	if err != nil {
		return nil, fmt.Errorf("%s: holds no key with its certificate (%w): want it back, "+
			"or remove it to have new ones made: clients need their hash then", path, err)
	}
	return &c, os.Chmod(path, 0o600)
}

// makeCertificate returns a key and a self-signed certificate, both in PEM. P-256: browsers accept no other curve
// of that strength for certificates.
func makeCertificate(hosts []net.IP, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "skep"},
		DNSNames: []string{"localhost"}, IPAddresses: hosts,
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(certificateTime), // a clock of others may be behind
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = errors.Join(pem.Encode(&b, &pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return b.Bytes(), err
}

// sumOf returns the hash by which clients identify a certificate; browsers show it as its SHA-256 fingerprint.
func sumOf(c *tls.Certificate) [sha256.Size]byte { return sha256.Sum256(c.Certificate[0]) }

// dialableIPs returns the addresses at which others can dial a listener: its own, or those of the interfaces where
// it listens on all.
func dialableIPs(a net.Addr) (ips []net.IP) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return nil
	}
	if !t.IP.IsUnspecified() {
		return []net.IP{t.IP}
	}
	addrs, _ := net.InterfaceAddrs()
	var six []net.IP
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		switch {
		case !ok || !n.IP.IsGlobalUnicast():
		case n.IP.To4() != nil:
			ips = append(ips, n.IP.To4())
		default:
			six = append(six, n.IP)
		}
	}
	if ips = append(ips, six...); len(ips) == 0 {
		return []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	return ips
}
