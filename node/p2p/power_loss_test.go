package p2p

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/grid"
	"skep/internal/crash"
	"skep/node/p2p/identity"
	"skep/node/p2p/lifecycle"
	"skep/node/p2p/store"
)

// startFolder opens a data folder as a starting node does, and returns its identity and boot count.
func startFolder(dir string) (id grid.NodeID, secret [32]byte, boot uint64, err error) {
	c := Config{DataDir: filepath.Join(dir, "data"), Logger: slog.New(slog.DiscardHandler)}
	if _, _, err = c.defaults(); err != nil {
		return id, secret, boot, err
	}
	d := &Driver{cfg: c}
	d.work = lifecycle.New(context.Background())
	defer d.unwind()
	if err = d.openFolder(); err != nil {
		return id, secret, boot, err
	}
	made, err := d.openIdentity(nil)
	if err == nil && made {
		err = identity.SaveSecret(d.cfg.DataDir, d.secret)
	}
	d.started = err == nil
	return d.self, d.secret, d.boot, err
}

// Removing all but the node's key and the network's secret, or replacing the database by a new one, leaves a
// damaged folder and no new node: it would run attempts again.
func TestMissingDatabase(t *testing.T) {
	for what, spoil := range map[string]func(dir string) error{
		"all removed": func(string) error { return nil },
		"begun anew":  func(dir string) error { s, err := store.Open(dir); return errors.Join(err, s.Close()) },
		"blobs began": func(dir string) error { return os.Mkdir(filepath.Join(dir, blobFolder), 0o700) },
	} {
		dir := t.TempDir()
		if _, _, _, err := startFolder(dir); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{store.File, store.MarkFile, blobFolder} {
			if err := os.RemoveAll(filepath.Join(dir, "data", name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := spoil(filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
		for range 2 { // a failed start leaves nothing that would make the next one succeed
			if _, _, _, err := startFolder(dir); err == nil || !strings.Contains(err.Error(), store.File) ||
				!strings.Contains(err.Error(), "another data folder") {
				t.Errorf("%s: error %v: want what is missing", what, err)
			}
		}
	}
}

func startTwice(dir string) error {
	for range 2 {
		id, secret, boot, err := startFolder(dir)
		if err != nil {
			return err
		}
		fmt.Println(id, identity.NetworkName(secret), boot)
	}
	return nil
}

// After a crash of the machine while a node starts, at any write and with any unsynced data lost or torn, the node
// starts again with the same identity, in the same network, with another boot count.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	crash.Recorded(t, "start").Survives(t, crash.Stride(5), func(dir string, acked []string) error {
		id, secret, boot, err := startFolder(dir)
		if err != nil || len(acked) == 0 {
			return err
		}
		var wasID, wasNetwork string
		var wasBoot uint64
		if _, err := fmt.Sscan(acked[len(acked)-1], &wasID, &wasNetwork, &wasBoot); err != nil {
			return err
		}
		if id.String() != wasID || identity.NetworkName(secret) != wasNetwork || boot <= wasBoot {
			return fmt.Errorf("it was %q and is %v %s %d", acked, id, identity.NetworkName(secret), boot)
		}
		return nil
	})
}

// Records belong to a node: without its identity, with another one or with half of it the node does not start and
// changes nothing.
func TestMissingIdentity(t *testing.T) {
	for want, lose := range map[string]func(path string) error{
		"is not there, but the data folder is that of node": os.Remove,
		"want its own file back": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("0", 64)+"\n"), 0o600)
		},
		"want 64 hexadecimal digits": func(path string) error { return os.Truncate(path, 30) },
	} {
		dir := t.TempDir()
		id, _, _, err := startFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "data", identity.KeyFile)
		was, err := os.ReadFile(path)
		if err == nil {
			err = lose(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		left, _ := os.ReadFile(path)
		if _, _, _, err := startFolder(dir); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: want %q", err, want)
		}
		if now, _ := os.ReadFile(path); string(now) != string(left) {
			t.Errorf("%s: the file was changed to %q", want, now)
		}
		if err := os.WriteFile(path, was, 0o600); err != nil {
			t.Fatal(err)
		}
		if again, _, boot, err := startFolder(dir); again != id || boot != 2 || err != nil {
			t.Errorf("with its file back it is %v, boot %d, %v", again, boot, err)
		}
	}
}

// A truncated database is an error that names it, and is not changed; a missing one is not created anew.
func TestTruncatedOrMissingDatabase(t *testing.T) {
	dir := t.TempDir()
	if _, _, _, err := startFolder(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "data", store.File)
	if err := os.Truncate(path, 20_000); err != nil {
		t.Fatal(err)
	}
	_, _, _, err := startFolder(dir)
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), store.File+" was cut") {
		t.Error(err)
	}
	if f, err := os.Stat(path); err != nil || f.Size() != 20_000 {
		t.Errorf("%v, %v", f, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := startFolder(dir); !errors.Is(err, store.ErrDamaged) ||
		!strings.Contains(err.Error(), store.File+" was emptied") {
		t.Errorf("emptied: %v", err)
	}
	if f, err := os.Stat(path); err != nil || f.Size() != 0 {
		t.Errorf("%v, %v", f, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := startFolder(dir); err == nil || !strings.Contains(err.Error(), store.File+" is not there") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("without it: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a new one")
	}
	other := t.TempDir()
	s, err := store.Open(other)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := os.Rename(filepath.Join(other, store.File), path); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := startFolder(dir); !errors.Is(err, store.ErrDamaged) ||
		!strings.Contains(err.Error(), "begun anew") {
		t.Errorf("with a new one: %v", err)
	}
}

// After a failed start the next one is like the first.
func TestFailedStartLeavesAFreshFolder(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	d := &Driver{cfg: Config{DataDir: data, Logger: slog.New(slog.DiscardHandler)}}
	if _, _, err := d.cfg.defaults(); err != nil {
		t.Fatal(err)
	}
	d.work = lifecycle.New(context.Background())
	if err := d.openFolder(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.openIdentity(nil); err != nil {
		t.Fatal(err)
	}
	d.unwind()
	if left, _ := os.ReadDir(data); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
	if _, _, boot, err := startFolder(dir); err != nil || boot != 1 {
		t.Errorf("boot %d, %v", boot, err)
	}
}

// A start that fails does not take the log from a database that was there before.
func TestFailedStartKeepsTheLog(t *testing.T) {
	dir := t.TempDir()
	if _, _, _, err := startFolder(dir); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	log := filepath.Join(data, store.LogFile)
	if err := os.RemoveAll(log); err != nil {
		t.Fatal(err)
	}
	d := &Driver{cfg: Config{DataDir: data, Logger: slog.New(slog.DiscardHandler)}}
	if _, _, err := d.cfg.defaults(); err != nil {
		t.Fatal(err)
	}
	d.work = lifecycle.New(context.Background())
	if err := d.openFolder(); err != nil {
		t.Fatal(err)
	}
	class := grid.Record{Kind: grid.RecClass, Class: grid.ClassRecord{Class: "c", Mean: 2}}
	if err := d.store.Commit([]grid.Record{class}); err != nil {
		t.Fatal(err)
	}
	d.unwind()
	if _, err := os.Stat(log); err != nil {
		t.Errorf("it removes the log: %v", err)
	}
}
