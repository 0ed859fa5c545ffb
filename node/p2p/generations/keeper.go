package generations

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	ds "github.com/ipfs/go-datastore"

	"skep/grid"
	"skep/node/generation"
	"skep/node/p2p/lifecycle"
)

// Config is what a keeper needs.
type Config struct {
	Self  grid.NodeID
	Key   ed25519.PrivateKey
	Start generation.Start
	Dir   string           // the data folder, for people
	Saved func() uint64    // number of the last commit; it is on disk
	Now   func() grid.Time // goes on in suspend
	Data  ds.Batching
	Log   *slog.Logger

	// Outlived reports whether another process with the identity has proved that it ran, and is the one to stop. It must
	// not block.
	Outlived func(instance uint64) bool

	// PutBack is called once if the data folder was put back to an earlier state: the node must do nothing more. It
	// must not block. Fatal follows, once what shows it is on disk, or cannot be saved.
	PutBack, Fatal func(error)
}

// Keeper keeps the generations of peers and tells this node's. Its methods are safe for concurrent use, and block for
// no stream and no disk.
type Keeper struct {
	cfg   Config
	work  *lifecycle.Group
	peers Peers
	began grid.Time

	mu       sync.Mutex
	book     generation.Book
	outlived generation.Outlived
	telling  generation.Telling
	answered bool // a peer has told what it knows
	putBack  bool
	kick     chan struct{} // of capacity 1: something is to be told
	unsaved  chan struct{} // of capacity 1: something is to be saved

	saving sync.Mutex // held while outlived is written; locked before mu
}

// Open returns a keeper with what earlier processes kept. Its work is begun by Attach.
func Open(work *lifecycle.Group, cfg Config) (k *Keeper, err error) {
	k = &Keeper{cfg: cfg, work: work, began: cfg.Now(), kick: make(chan struct{}, 1), unsaved: make(chan struct{}, 1)}
	if err := k.loadEvidence(); err != nil {
		return nil, err
	}
	if k.outlived, err = LoadOutlived(work.Context(), cfg.Data); err != nil {
		return nil, err
	}
	return k, k.load()
}

// ErrPutBack is why a node does not go on whose data folder was put back to an earlier state.
var ErrPutBack = errors.New("was put back to an earlier state")

// Known implements transport.Generations.
func (k *Keeper) Known(n grid.NodeID) ([]byte, time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.book.Known(k.cfg.Now()-k.began, n)
}

// Told implements transport.Generations.
func (k *Keeper) Told(by grid.NodeID, signed []byte, age time.Duration) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.putBack {
		return false
	}
	k.answered = true
	s, ok := generation.Open(k.cfg.Self, signed)
	if !ok || k.isOutlived(s, by) {
		return true // nothing, or what this node has not signed, or what it need not have
	}
	switch k.cfg.Start.Check(s, age, k.cfg.Now().Sub(k.began), k.cfg.Saved()) {
	case generation.Copied:
		k.cfg.Log.Warn("a peer has heard of another process with this node's identity: its data folder was copied", "peer",
			by.Short(), "age", age.Round(time.Second))
	case generation.PutBack:
		k.putBack = true
		err := k.putBackError(s)
		k.cfg.PutBack(err)
		k.work.Go(func() {
			k.keepEvidence(signed)
			k.cfg.Fatal(err)
		})
		return false
	}
	return true
}

// putBackError says what this node has signed, what its folder has and what to do.
func (k *Keeper) putBackError(s generation.Statement) error {
	starts, saved := k.cfg.Start.Boot-1, k.cfg.Start.Saved
	if s.Instance == k.cfg.Start.Instance { // the machine was put back with its memory
		starts, saved = k.cfg.Start.Boot, k.cfg.Saved()
	}
	return fmt.Errorf("data folder %s: %w: node %s has signed that in its start %d it had saved up to %d, and the folder "+
		"knew of %d starts and ended at %d: want it back as it was when the node was last stopped, or another data folder, "+
		"in which this is another node (or here: skep up --new-identity)", k.cfg.Dir, ErrPutBack, k.cfg.Self.Short(), s.Boot,
		s.Saved, starts, saved)
}

// Answered reports whether a peer has told what it knows of this node.
func (k *Keeper) Answered() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.answered
}

// Up implements transport.Generations.
func (k *Keeper) Up(n grid.NodeID, keeps bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if keeps {
		k.telling.Up(n)
		notify(k.kick)
	}
}

// Down implements transport.Generations.
func (k *Keeper) Down(n grid.NodeID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.telling.Down(n)
}

// Sent implements transport.Generations.
func (k *Keeper) Sent(n grid.NodeID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.telling.Sent(n, k.cfg.Saved()) {
		notify(k.kick)
	}
}

func notify(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
