package credentials

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node/certificate"
)

// block has a file of a keeper not be written any more, until unblock.
func block(t *testing.T, k *Keeper, name string) (unblock func()) {
	t.Helper()
	path := k.folder.path(name)
	saved, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	os.Remove(path)
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	return func() {
		os.RemoveAll(path)
		if saved == nil {
			return
		}
		if err := os.WriteFile(path, saved, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// What an issuer could not keep has not happened: it can be asked for again, and is not known by half.
func TestWhatIsNotKeptHasNotHappened(t *testing.T) {
	for _, name := range []string{ledgerFile, listsFile} {
		w := newWorld(t)
		by := w.issuer()
		k := w.member(by, "k")
		unblock := block(t, by, name)
		if _, err := by.Revoke("k"); err == nil {
			t.Fatalf("%s: a revocation that is not kept is no error", name)
		}
		unblock()
		w.wantMet(k, by)
		if _, err := by.Revoke("k"); err != nil {
			t.Errorf("%s: the revocation again: %v", name, err)
		}
		w.wantRefused(k, by, "revoked")
	}
	w := newWorld(t)
	by := w.issuer()
	unblock := block(t, by, ledgerFile)
	if _, err := by.Invite("a", certificate.Run, 1, time.Hour); err == nil {
		t.Error("an invite that is not kept is no error")
	}
	unblock()
	c := w.config("a")
	c.Ticket = w.invite(by, "a", 1)
	a := w.open(c)
	unblock = block(t, by, ledgerFile)
	if x, _ := w.meet(a, by); x == nil {
		t.Error("a use that is not kept is answered")
	}
	if answer, why := by.give(a.cfg.Self, []byte{wantRenew}); why == nil || answer[0] == answerOK {
		t.Error("a node whose use of an invite is not kept gets a certificate as if it were renewed")
	}
	unblock()
	w.wantMet(a, by)
}

// A power cut between the lists and the ledger leaves nobody half out.
func TestListIsSavedBeforeTheLedger(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	k := w.member(by, "k")
	ledger, err := os.ReadFile(by.folder.path(ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := by.Revoke("k"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(by.folder.path(ledgerFile), ledger, 0o600); err != nil {
		t.Fatal(err)
	}
	by = w.open(by.cfg)
	w.wantRefused(k, by, "revoked")
	if _, why := by.give(k.cfg.Self, []byte{wantRenew}); why == nil {
		t.Error("a node on the list has its certificate renewed after a restart")
	}
}

// A data folder that has lost its root is not one of a network without certificates.
func TestRootIsNotLost(t *testing.T) {
	w := newWorld(t)
	a := w.member(w.issuer(), "a")
	if err := os.Remove(a.folder.path(rootFile)); err != nil {
		t.Fatal(err)
	}
	c := a.cfg
	c.Ticket, c.New = nil, false
	if k, err := Open(c); err == nil || !strings.Contains(err.Error(), "want that file back") {
		t.Errorf("without its root: %v, %v", k, err)
	}
}

// A revocation also covers what another issuer, whose clock is ahead, has given since its node was met here.
func TestRevocationCoversAnIssuerAhead(t *testing.T) {
	w := newWorld(t)
	first := w.issuer()
	a, second := w.member(first, "a"), w.member(first, "second")
	c := second.cfg
	c.Ticket, c.Root = nil, w.root
	second = w.open(c)
	w.wantMet(a, second)
	w.pass(certificate.Life * 2 / 3)
	first.cfg.Now = func() time.Time { return time.Unix(w.now.Load(), 0).Add(certificate.Skew - time.Minute) }
	w.wantMet(a, first) // renewed
	if err := second.issueOwn(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Revoke("a"); err != nil {
		t.Fatal(err)
	}
	if err := second.lists.Revoked(a.Of(a.cfg.Self)); err == nil {
		t.Error("the certificate that a got since is not revoked")
	}
}

// Strangers with ever new keys do not fill the log.
func TestLogOfStrangersIsBounded(t *testing.T) {
	var s said
	now, lines := time.Unix(1_800_000_000, 0), 0
	for i := range 10_000 {
		if s.isNew(fmt.Sprint("a node is not let in", grid.NodeID{byte(i), byte(i >> 8)}), now) {
			lines++
		}
	}
	if lines != maxSaid {
		t.Errorf("%d lines of 10,000 strangers: want %d", lines, maxSaid)
	}
	if s.isNew("x", now.Add(sayAgain-1)) || !s.isNew("x", now.Add(sayAgain)) || s.isNew("x", now.Add(sayAgain)) {
		t.Error("what is new is not logged again after a while, once")
	}
}
