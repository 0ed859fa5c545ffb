package credentials

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"skep/grid"
	"skep/node/certificate"
	"skep/node/p2p/disk"
)

// Folder is the folder in a data folder that has what this package keeps.
const Folder = "certificates"

// Files of the folder.
const (
	rootFile     = "root"        // public key of the network's root
	ownFile      = "certificate" // of this node
	listsFile    = "revocations"
	inviteFile   = "invite"   // to be redeemed, as text
	redeemedFile = "redeemed" // the last one that was
	issuerFile   = "issuer"   // this node's certificate as an issuer
	ledgerFile   = "ledger"   // what it has issued
)

// identityFiles belong to the node's key.
var identityFiles = []string{ownFile, inviteFile, redeemedFile, issuerFile, ledgerFile}

// Forget removes from a data folder what belongs to the node's key, and keeps what belongs to the network: the node
// that is made there next wants an invite of its own.
func Forget(dataDir string) error {
	for _, name := range identityFiles {
		if err := os.Remove(filepath.Join(dataDir, Folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// PendingInvite returns the text of the invite that a data folder has yet to redeem; "" if there is none.
func PendingInvite(dataDir string) string {
	b, err := os.ReadFile(filepath.Join(dataDir, Folder, inviteFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// folder is where a keeper keeps its files.
type folder string

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

// read returns the lines of a file, decoded; nil if there is none.
func (f folder) read(name string) (parts [][]byte, err error) {
	text, err := os.ReadFile(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Fields(string(text)) {
		b, err := hex.DecodeString(line)
		if err != nil {
			return nil, fmt.Errorf("%s: want lines of hexadecimal digits", f.path(name))
		}
		parts = append(parts, b)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%s: is empty: want it back as it was", f.path(name))
	}
	return parts, nil
}

// write writes a file for read; it is on disk when write returns.
func (f folder) write(name string, parts ...[]byte) error {
	var text strings.Builder
	for _, p := range parts {
		text.WriteString(hex.EncodeToString(p) + "\n")
	}
	return f.writeText(name, text.String())
}

func (f folder) writeText(name, text string) error {
	if err := disk.MakeFolder(string(f), 0o700); err != nil {
		return err
	}
	return disk.WriteFile(f.path(name), []byte(text))
}

// savedLedger is a ledger as it is on disk.
type savedLedger struct {
	Invites []savedInvite `json:"invites"`
	Issued  []savedIssued `json:"issued"`
}

type savedInvite struct {
	Serial uint64   `json:"serial"`
	Name   string   `json:"name"`
	Roles  []string `json:"roles"`
	Uses   int      `json:"uses"`
	Until  int64    `json:"until"`
	Hash   string   `json:"hash"`
	Taken  []string `json:"taken,omitempty"`
}

type savedIssued struct {
	Node  string   `json:"node"`
	Name  string   `json:"name"`
	Roles []string `json:"roles"`
	Out   bool     `json:"out,omitempty"`
	OutAt int64    `json:"out_at,omitempty"`
}

func (f folder) writeLedger(l *certificate.Ledger) error {
	s := savedLedger{Invites: []savedInvite{}, Issued: []savedIssued{}}
	for _, i := range l.Invites {
		v := savedInvite{i.Serial, i.Name, i.Roles.Names(), i.Uses, int64(i.Until), hex.EncodeToString(i.Hash), nil}
		for _, n := range i.Taken {
			v.Taken = append(v.Taken, n.String())
		}
		s.Invites = append(s.Invites, v)
	}
	for _, i := range l.Issued {
		s.Issued = append(s.Issued, savedIssued{i.Node.String(), i.Name, i.Roles.Names(), i.Out, int64(i.OutAt)})
	}
	b, err := json.MarshalIndent(&s, "", "\t")
	if err != nil {
		return err
	}
	return f.writeText(ledgerFile, string(b)+"\n")
}

func (f folder) readLedger() (l certificate.Ledger, err error) {
	b, err := os.ReadFile(f.path(ledgerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	var s savedLedger
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err == nil {
		l, err = s.ledger()
	}
	if err != nil {
		return l, fmt.Errorf("%s: %w", f.path(ledgerFile), err)
	}
	return l, nil
}

func (s *savedLedger) ledger() (l certificate.Ledger, err error) {
	var errs []error
	node := func(text string) certificate.Key {
		n, err := grid.ParseNodeID(text)
		errs = append(errs, err)
		return n
	}
	roles := func(names []string) certificate.Roles {
		r, err := certificate.ParseRoles(names)
		errs = append(errs, err)
		return r
	}
	for _, i := range s.Invites {
		hash, err := hex.DecodeString(i.Hash)
		errs = append(errs, err)
		v := certificate.Invited{Serial: i.Serial, Name: i.Name, Roles: roles(i.Roles), Uses: i.Uses,
			Until: certificate.Time(i.Until), Hash: hash}
		for _, n := range i.Taken {
			v.Taken = append(v.Taken, node(n))
		}
		l.Invites = append(l.Invites, v)
	}
	for _, i := range s.Issued {
		l.Issued = append(l.Issued, certificate.Issued{Node: node(i.Node), Name: i.Name, Roles: roles(i.Roles), Out: i.Out,
			OutAt: certificate.Time(i.OutAt)})
	}
	return l, errors.Join(errs...)
}

func (f folder) remove(name string) { os.Remove(f.path(name)) }

// hasOthers reports whether there is a file besides that of the root, which is written first and stays.
func (f folder) hasOthers() bool {
	for _, name := range append([]string{listsFile}, identityFiles...) {
		if _, err := os.Stat(f.path(name)); err == nil {
			return true
		}
	}
	return false
}
