package secrets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"skep/grid"
	"skep/node/secret"
)

// ErrAway reports that no node which holds a secret of an attempt could be asked.
var ErrAway = errors.New("no node that holds it answers")

// Value is a secret that an attempt gets.
type Value struct {
	Name, Env string
	Value     []byte
}

// How long the holders of a secret are asked before an attempt is given back, and the pause between two rounds.
const (
	fetchFor   = 10 * time.Second
	fetchPause = 500 * time.Millisecond
)

// Fetch gets the secrets of an attempt that is to run here. An error wraps ErrAway if the attempt may get them later.
func (s *Secrets) Fetch(ctx context.Context, id grid.AttemptID, spec *grid.JobSpec, given *grid.Given) ([]Value,
	error) {
	if given == nil || given.Assigned == "" {
		return nil, errors.New("secrets: the attempt is not signed: want a job of which the ends are signed")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchFor)
	defer cancel()
	var all []Value
	for i := range spec.Secrets {
		u := &spec.Secrets[i]
		r := &secret.Request{Op: secret.Get, Secret: secret.Secret{ID: secret.ID{Owner: u.Owner, Name: u.Name}},
			Attempt: id, Spec: spec, Given: *given}
		value, err := s.fetch(ctx, u.Holders, r)
		if err != nil {
			return nil, fmt.Errorf("secret %s: %w", u.Name, err)
		}
		all = append(all, Value{u.Name, u.Env, value})
	}
	return all, nil
}

// fetch asks the holders of a secret in turn, those that are connected first, until one hands it out. One that refuses,
// as it may have lost it or not have heard of its last lists, decides nothing while others may hand it out.
func (s *Secrets) fetch(ctx context.Context, holders []grid.NodeID, r *secret.Request) ([]byte, error) {
	holders = slices.Clone(holders)
	for {
		slices.SortStableFunc(holders, func(a, b grid.NodeID) int { return s.distance(a) - s.distance(b) })
		var silent, refused error
		for _, n := range holders {
			value, err := s.fetchFrom(ctx, n, r)
			var no refusal
			switch {
			case err == nil:
				return value, nil
			case errors.As(err, &no):
				refused = errors.Join(refused, fmt.Errorf("node %s: %w", n.Short(), err))
			default:
				silent = err
			}
		}
		if refused != nil {
			return nil, refused
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrAway, silent)
		case <-time.After(fetchPause):
		}
	}
}

// distance orders holders: this node, those that are connected, others.
func (s *Secrets) distance(n grid.NodeID) int {
	switch {
	case n == s.cfg.Self:
		return 0
	case s.cfg.Peers.IsConnected(n):
		return 1
	}
	return 2
}

func (s *Secrets) fetchFrom(ctx context.Context, n grid.NodeID, r *secret.Request) ([]byte, error) {
	if n != s.cfg.Self {
		return s.ask(ctx, n, r)
	}
	value, err := s.serve(n, r)
	if err != nil {
		return nil, refusal{err.Error()}
	}
	return value, nil
}
