//go:build amd64 || arm64

package zygote

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The copy has what everybody may read, and no keys, whatever they are called and wherever links lead.
func TestCopyOfEtc(t *testing.T) {
	base, err := os.MkdirTemp("/var/tmp", "skep-etc-") // everybody can pass to it, as to t.TempDir not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	c := etc{from: filepath.Join(base, "etc"), to: filepath.Join(base, "copy"), shows: func(string) bool { return false },
		files: 100, bytes: etcBytes}
	c.exposed = func(path string) bool { return path == filepath.Join(c.from, "sub", "exposed") }
	const pem, key = "-----BEGIN CERTIFICATE-----\n", "-----BEGIN RSA PRIVATE KEY-----\n"
	for name, content := range map[string]string{"etc/plain": "x", "etc/sub/exposed": "x", "etc/sub/other": "x",
		"etc/ca.pem": pem, "etc/both.pem": pem + key,
		"etc/server.crt": key, "etc/a.p12": "x", "etc/a.pfx": "x", "etc/notes": "how to make a PRIVATE KEY",
		"closed/d/f": "x", "open/f": "x", "open/shadow": "x",
		"open/x.key": "x", "open/x.pem": key} {
		path := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(base, 0o755), os.Chmod(filepath.Join(base, "closed"), 0o700),
		os.MkdirAll(filepath.Join(c.to, "sub"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"l-open": "../open/f", "l-closed": "../closed/d/f",
		"l-shadow": "../open/shadow", "l-key": "../open/x.key", "l-pem": "../open/x.pem"} {
		if err := os.Symlink(to, filepath.Join(c.from, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.folder("."), c.haveHosts(), c.haveHosts()); err != nil {
		t.Fatal(err)
	}
	var names []string
	filepath.WalkDir(c.to, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(c.to, path)
			names = append(names, name)
		}
		return err
	})
	if want := []string{"ca.pem", "hosts", "l-open", "notes", "plain", "sub/other"}; !slices.Equal(names, want) {
		t.Errorf("%v: want %v", names, want)
	}
}
