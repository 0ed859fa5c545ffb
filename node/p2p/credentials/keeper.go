package credentials

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"skep/grid"
	"skep/node/certificate"
)

// Config is what a keeper needs. All fields must be set but where they say otherwise.
type Config struct {
	Folder string // of this package's files
	Self   grid.NodeID
	Name   string // of this node, for its certificate if it issues that itself
	Key    ed25519.PrivateKey

	// Root is the network's root key, with which this node is made an issuer; nil: it is what it was.
	Root ed25519.PrivateKey

	// Ticket is the invite with which the node joins; nil: none was given.
	Ticket *Ticket

	// New says that the data folder is in no network yet: it may become one of a network with certificates.
	New bool

	Life time.Duration // of the certificates that this node gives; 0 = certificate.Life
	Log  *slog.Logger
	Now  func() time.Time

	// Denied is called when the issuer refuses the invite for good.
	Denied func(error)
}

// Ticket is an invite with its secret.
type Ticket struct {
	Invite certificate.Invite
	Secret [certificate.SecretSize]byte
	Text   string // as it was given
}

// Errors of a node that cannot be let in.
var (
	ErrNone    = errors.New("this node has no certificate yet")
	ErrRefused = errors.New("the other node refuses this one")
)

// maxKnown bounds the nodes whose last certificate is remembered.
const maxKnown = 4096

// Keeper keeps the certificates of a node. All its methods are safe for concurrent use.
type Keeper struct {
	cfg    Config
	folder folder
	root   certificate.Key
	seats  *seats
	kick   chan struct{} // a list or the own certificate has changed

	strangers, issuers said // what was logged of whom

	mu     sync.Mutex
	own    *certificate.Chain // nil: none yet
	ticket *Ticket            // to be redeemed; nil: none
	lists  certificate.Lists
	known  map[grid.NodeID]*certificate.Chain // last shown, checked, by node
	order  []grid.NodeID                      // of known, oldest first
	issuer *certificate.Issuer                // nil: this node is none
	ledger certificate.Ledger                 // of an issuer
}

// Open returns the keeper of a data folder; nil if its network has no certificates.
func Open(cfg Config) (*Keeper, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Life == 0 {
		cfg.Life = certificate.Life
	}
	k := &Keeper{cfg: cfg, folder: folder(cfg.Folder), seats: newSeats(), kick: make(chan struct{}, 1),
		known: map[grid.NodeID]*certificate.Chain{}}
	has, err := k.openRoot()
	if err == nil && has {
		err = k.load()
	}
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	if !has {
		return nil, nil
	}
	return k, nil
}

// openRoot finds out which root the network has.
func (k *Keeper) openRoot() (has bool, err error) {
	saved, err := k.folder.read(rootFile)
	if err != nil {
		return false, err
	}
	if saved == nil && k.folder.hasOthers() {
		return false, fmt.Errorf("%s: is not there, but the network of this data folder has certificates: want that file "+
			"back, or another data folder", k.folder.path(rootFile))
	}
	if saved != nil && len(saved[0]) != len(k.root) {
		return false, fmt.Errorf("%s: want %d bytes", k.folder.path(rootFile), len(k.root))
	}
	for _, given := range k.roots() {
		switch {
		case saved != nil && certificate.Key(saved[0]) != given:
			return false, errors.New("the root key or the invite is of another network than this data folder: want one of " +
				"its network, or another data folder")
		case saved == nil && !k.cfg.New:
			return false, errors.New("this data folder is in a network without certificates, which cannot be given a root " +
				"key: want another data folder")
		case saved == nil:
			if err := k.folder.write(rootFile, given[:]); err != nil {
				return false, err
			}
			saved = [][]byte{given[:]}
		}
	}
	if saved == nil {
		return false, nil
	}
	k.root = certificate.Key(saved[0])
	return true, nil
}

// roots returns the roots that were given at this start.
func (k *Keeper) roots() (roots []certificate.Key) {
	if k.cfg.Root != nil {
		roots = append(roots, certificate.Key(k.cfg.Root.Public().(ed25519.PublicKey)))
	}
	if k.cfg.Ticket != nil {
		roots = append(roots, k.cfg.Ticket.Invite.Root)
	}
	return roots
}

// load reads what is on disk.
func (k *Keeper) load() error {
	own, err := k.folder.read(ownFile)
	if err != nil {
		return err
	}
	if own != nil {
		if k.own, err = certificate.DecodeChain(own[0]); err == nil {
			err = k.own.Proved(k.root, k.cfg.Self)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", k.folder.path(ownFile), err)
		}
	}
	lists, err := k.folder.read(listsFile)
	if err != nil {
		return err
	}
	for _, b := range lists {
		l, err := certificate.DecodeList(b)
		if err == nil {
			_, err = k.lists.Add(k.root, l)
		}
		if err != nil && !errors.Is(err, certificate.ErrRevoked) {
			return fmt.Errorf("%s: %w", k.folder.path(listsFile), err)
		}
	}
	if err := k.openIssuer(); err != nil {
		return err
	}
	return k.openTicket()
}

// openTicket keeps the invite that was given, unless it was redeemed before.
func (k *Keeper) openTicket() error {
	t := k.cfg.Ticket
	if t != nil {
		done, err := k.folder.read(redeemedFile)
		if err != nil {
			return err
		}
		if done != nil && k.own != nil && string(done[0]) == string(serial(t)) {
			t = nil
		} else if err := k.folder.writeText(inviteFile, t.Text+"\n"); err != nil {
			return err
		}
	}
	k.ticket = t
	if k.own == nil && t == nil {
		return errors.New("this node has no certificate of its network: want an invite: skep up --join-file FILE, with " +
			"what skep node invite prints at an issuer")
	}
	return nil
}

func serial(t *Ticket) []byte { return binary.BigEndian.AppendUint64(nil, t.Invite.Serial) }

// random returns a number for a certificate.
func random() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}

func (k *Keeper) now() certificate.Time { return certificate.At(k.cfg.Now()) }

// changed has the others be told.
func (k *Keeper) changed() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
}
