package secrets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/libp2p/go-libp2p/core/network"
	"golang.org/x/time/rate"

	"skep/grid"
	"skep/node/chain"
	"skep/node/p2p/wire"
	"skep/node/secret"
)

// folderName is the folder of secrets in a data folder.
const folderName = "secrets"

// Config is what a node's secrets need. All fields must be set.
type Config struct {
	Self    grid.NodeID
	DataDir string
	Peers   Peers
	Log     *slog.Logger
	Drop    func(string)     // counts what was not handled, by a reason of a fixed few
	Now     func() grid.Time // a clock that does not go back
}

// Peers are the other nodes.
type Peers interface {
	// Open opens a stream within a deadline of its own; with it a node that is not connected is dialled.
	Open(ctx context.Context, n grid.NodeID, protocol string) (network.Stream, error)
	IsConnected(n grid.NodeID) bool
	Offend(n grid.NodeID, reason string, weight int)
}

// Secrets are those that a node holds, and those that it has set. It is safe for concurrent use.
type Secrets struct {
	cfg   Config
	store *store

	lines   *rate.Limiter // of the log about what other nodes asked for in vain
	setting sync.Mutex    // held while secrets are set and removed, one after the other

	mu     sync.Mutex
	handed secret.Handed
}

// Open reads what is kept in a data folder.
func Open(cfg Config) (*Secrets, error) {
	s, err := openStore(filepath.Join(cfg.DataDir, folderName), cfg.Self, cfg.Log)
	if err != nil {
		return nil, err
	}
	return &Secrets{cfg: cfg, store: s, lines: rate.NewLimiter(1, deniedLines)}, nil
}

// Set sets a secret of this node, or sets it anew: each holder gets value and lists, or the error says which did not.
// The owner is this node. It is not undone at those that did. Nodes that held it before and do not now are to forget
// it; those that cannot be reached are remembered, and told when it is set or removed again.
func (s *Secrets) Set(ctx context.Context, of secret.Secret, value []byte) error {
	of.Owner = s.cfg.Self
	s.setting.Lock()
	defer s.setting.Unlock()
	before, _ := s.store.ownOf(of.Name)
	own := of
	own.Former = nil
	for _, n := range slices.Concat(before.Former, before.Holders) {
		if !slices.Contains(of.Holders, n) && !slices.Contains(own.Former, n) {
			own.Former = append(own.Former, n)
		}
	}
	if err := errors.Join(own.Check(), secret.CheckValue(of.Name, value)); err != nil {
		return err
	}
	if err := s.store.noteOwn(&own); err != nil {
		return err
	}
	of.Former = nil
	_, failed := s.each(of.Holders, func(n grid.NodeID) error {
		if n == s.cfg.Self {
			return s.store.hold(&of, value)
		}
		_, err := s.ask(ctx, n, &secret.Request{Op: secret.Set, Secret: of, Value: value})
		return err
	})
	missed, left := s.removeAt(ctx, own.ID, own.Former)
	if len(missed) < len(own.Former) {
		own.Former = missed
		failed = errors.Join(failed, s.store.noteOwn(&own))
	}
	if left != nil {
		left = fmt.Errorf("secret %s: nodes that held it before still have the value of then: %w", of.Name, left)
	}
	if failed != nil {
		failed = fmt.Errorf("secret %s is not set everywhere: %w: set it again once they are there", of.Name, failed)
	}
	return errors.Join(failed, left)
}

// errNoSecret is why nothing is known of a secret.
var errNoSecret = errors.New("this node has not set it: see skep secret list")

// Remove has all holders forget a secret of this node. With an error some may still have it, and it can be repeated;
// with anyway this node forgets it all the same, as where a holder does not come back.
func (s *Secrets) Remove(ctx context.Context, name string, anyway bool) error {
	s.setting.Lock()
	defer s.setting.Unlock()
	of, there := s.store.ownOf(name)
	if !there {
		return fmt.Errorf("secret %.80q: %w", name, errNoSecret)
	}
	_, err := s.removeAt(ctx, of.ID, slices.Concat(of.Holders, of.Former))
	if err != nil && anyway {
		s.cfg.Log.Warn("a secret is forgotten here, and not everywhere", "secret", name, "error", err)
	} else if err != nil {
		return fmt.Errorf("secret %s is not removed everywhere: %w: repeat it once they are there", name, err)
	}
	return s.store.forgetOwn(of.ID)
}

// removeAt has nodes forget a secret, and returns those that did not.
func (s *Secrets) removeAt(ctx context.Context, id secret.ID, at []grid.NodeID) ([]grid.NodeID, error) {
	return s.each(at, func(n grid.NodeID) error {
		if n == s.cfg.Self {
			return s.store.release(id)
		}
		_, err := s.ask(ctx, n, &secret.Request{Op: secret.Remove, Secret: secret.Secret{ID: id}})
		return err
	})
}

// each calls do for all nodes at the same time, and says which it failed for.
func (s *Secrets) each(nodes []grid.NodeID, do func(grid.NodeID) error) (missed []grid.NodeID, err error) {
	failed := make([]error, len(nodes))
	var all sync.WaitGroup
	for k, n := range nodes {
		all.Go(func() {
			if err := do(n); err != nil {
				failed[k] = fmt.Errorf("node %s: %w", n.Short(), err)
			}
		})
	}
	all.Wait()
	for k, n := range nodes {
		if failed[k] != nil {
			missed = append(missed, n)
		}
	}
	return missed, errors.Join(failed...)
}

// List returns what this node has set and what it holds for others, by name.
func (s *Secrets) List() (all []secret.Known) {
	s.store.mu.Lock()
	for _, of := range s.store.own {
		_, held := s.store.held[of.ID]
		all = append(all, secret.Known{Secret: of, Held: held})
	}
	for id, of := range s.store.held {
		if _, own := s.store.own[id.Name]; !own || id.Owner != s.cfg.Self {
			all = append(all, secret.Known{Secret: of, Held: true})
		}
	}
	s.store.mu.Unlock()
	slices.SortFunc(all, func(a, b secret.Known) int {
		if d := strings.Compare(a.Name, b.Name); d != 0 {
			return d
		}
		return a.Owner.Compare(b.Owner)
	})
	return all
}

// Resolve fills in where the secrets of a job are that is submitted here, and who may get them. A secret is one that
// this node has set or, where nodes are named that hold it, what the first of them that answers says.
func (s *Secrets) Resolve(ctx context.Context, uses []grid.SecretUse, by grid.Submitter) ([]grid.SecretUse, error) {
	out := make([]grid.SecretUse, 0, len(uses))
	for i := range uses {
		u := &uses[i]
		of, err := s.find(ctx, u)
		if err != nil {
			return nil, fmt.Errorf("secrets %s: %w", u.Name, err)
		}
		if !of.Admits(by) {
			return nil, fmt.Errorf("secrets %s: jobs of %s at this node may not use it: want one of its origins", u.Name,
				by.User)
		}
		out = append(out, of.Use(u.Env))
	}
	return out, nil
}

func (s *Secrets) find(ctx context.Context, u *grid.SecretUse) (secret.Secret, error) {
	of, there := s.store.ownOf(u.Name)
	if len(u.Holders) == 0 && !there {
		return of, errors.New("this node has not set it: want NAME@NODE for one that another node has set, NODE being one " +
			"that holds it")
	}
	if len(u.Holders) == 0 {
		return of, nil
	}
	var failed error
	for _, n := range u.Holders {
		b, err := s.look(ctx, n, u.Name)
		if err == nil {
			r, bad := wire.DecodeSecretRequest(b)
			if bad == nil && r.Op == secret.Look && r.Name == u.Name && r.Secret.Check() == nil {
				return r.Secret, nil
			}
			err = errors.New("its answer is malformed")
		}
		failed = errors.Join(failed, fmt.Errorf("node %s: %w", n.Short(), err))
	}
	return of, failed
}

// look asks a node what it holds by a name that jobs of this node may use.
func (s *Secrets) look(ctx context.Context, n grid.NodeID, name string) ([]byte, error) {
	r := &secret.Request{Op: secret.Look, Secret: secret.Secret{ID: secret.ID{Name: name}}}
	if n == s.cfg.Self {
		return s.serve(n, r)
	}
	return s.ask(ctx, n, r)
}

// allow decides about a request of a worker, and returns the value.
func (s *Secrets) allow(worker grid.NodeID, r *secret.Request) ([]byte, error) {
	held, there := s.store.get(r.ID)
	if !there {
		return nil, errors.New("it is not held here")
	}
	if err := secret.Allow(chain.Observer{}, s.cfg.Self, worker, &held, r); err != nil {
		return nil, err
	}
	s.mu.Lock()
	again := s.handed.Take(s.cfg.Now(), r.ID, r.Attempt)
	s.mu.Unlock()
	if !again {
		return nil, fmt.Errorf("attempt %s has had it %d times, or it is more than %v since the first", r.Attempt,
			secret.MaxTimes, secret.Within)
	}
	return s.store.value(r.ID)
}
