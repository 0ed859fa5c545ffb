package secrets

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/wire"
	"skep/node/secret"
)

// Protocol is the protocol of streams about secrets.
const Protocol = "/skep/secret/1"

// Request is the size of what begins a stream: the length of the encoded request, which follows. The answer is a
// status, a length and, with StatusOK, a value or an encoded request, else a reason for people.
const Request = 4

// Bounds of streams: served for one peer and in all at a time, and how long a seat stays taken after the answer.
const (
	ServesPerPeer = 8
	ServesAll     = 64
	Cooldown      = 250 * time.Millisecond
)

// deniedLines is how many lines the log gets at once of what was asked for in vain; then it is one each second, since
// a member may ask 32 times in that. The others are counted.
const deniedLines = 32

// askDeadline bounds one request and its answer.
const askDeadline = 10 * time.Second

// Serve answers a request about a secret.
func (s *Secrets) Serve(n grid.NodeID, st network.Stream, head []byte, w io.Writer) {
	size := int64(binary.BigEndian.Uint32(head))
	if size > int64(wire.MaxSecretRequest) {
		s.cfg.Peers.Offend(n, "oversize", 4)
		st.Reset()
		return
	}
	st.SetReadDeadline(time.Now().Add(askDeadline))
	b, err := readRequest(st, size)
	if err != nil {
		s.cfg.Drop("request")
		st.Reset()
		return
	}
	defer clear(b)
	r, err := wire.DecodeSecretRequest(b)
	if err != nil {
		s.cfg.Peers.Offend(n, "secret", 1)
		st.Reset()
		return
	}
	answer, err := s.serve(n, r)
	if err == nil {
		w.Write(binary.BigEndian.AppendUint32([]byte{wire.StatusOK}, uint32(len(answer))))
		w.Write(answer)
		clear(answer)
		return
	}
	why := grid.Clean(err.Error(), grid.MaxText)
	w.Write(append(binary.BigEndian.AppendUint32([]byte{wire.StatusNone}, uint32(len(why))), why...))
}

// atOnce is how large a request may be for which memory is taken before it has come: all with a value are smaller.
const atOnce = 128 << 10

// readRequest reads a request of a size that its sender has stated.
func readRequest(from io.Reader, size int64) ([]byte, error) {
	if size > atOnce {
		b, err := io.ReadAll(io.LimitReader(from, size))
		if err == nil && int64(len(b)) < size {
			err = io.ErrUnexpectedEOF
		}
		return b, err
	}
	b := make([]byte, size)
	_, err := io.ReadFull(from, b)
	return b, err
}

// errDenied is all that a worker is told: neither whether there is such a secret, nor for whom.
var errDenied = errors.New("it does not hand it out to this node for this attempt, as its log says")

// serve carries out a request of a node that has proved who it is.
func (s *Secrets) serve(n grid.NodeID, r *secret.Request) ([]byte, error) {
	switch r.Op {
	case secret.Get:
		value, err := s.allow(n, r)
		log := s.cfg.Log.With("secret", r.Name, "owner", r.Owner.Short(), "worker", n.Short(), "attempt", r.Attempt.String())
		if err != nil {
			s.cfg.Drop("secret denied")
			if s.lines.Allow() {
				log.Warn("a secret was not handed out", "reason", err.Error())
			}
			return nil, errDenied
		}
		log.Info("a secret was handed out")
		return value, nil
	case secret.Set:
		if r.Owner != n {
			s.cfg.Peers.Offend(n, "secret", 1)
			return nil, errors.New("a node sets its own secrets alone")
		}
		r.Former = nil
		if err := s.store.hold(&r.Secret, r.Value); err != nil {
			if s.lines.Allow() {
				s.cfg.Log.Warn("a secret is not held here", "secret", r.Name, "owner", n.Short(), "error", err)
			}
			if errors.Is(err, errFull) {
				return nil, err
			}
			return nil, errors.New("it cannot write it, as its log says")
		}
		s.cfg.Log.Info("a secret is held here", "secret", r.Name, "owner", n.Short())
		return nil, nil
	case secret.Remove:
		if r.Owner != n {
			s.cfg.Peers.Offend(n, "secret", 1)
			return nil, errors.New("a node removes its own secrets alone")
		}
		s.cfg.Log.Info("a secret is held no longer", "secret", r.Name, "owner", n.Short())
		return nil, s.store.release(r.ID)
	case secret.Look:
		of, err := s.store.usableBy(n, r.Name)
		if err != nil {
			return nil, err
		}
		return wire.EncodeSecretRequest(&secret.Request{Op: secret.Look, Secret: of})
	}
	return nil, errors.New("it does not know what is asked")
}

// refusal is an answer that says no.
type refusal struct{ why string }

func (r refusal) Error() string { return r.why }

// ask sends a request to another node and returns the answer. An error that is no refusal says that it did not answer.
func (s *Secrets) ask(ctx context.Context, n grid.NodeID, r *secret.Request) ([]byte, error) {
	b, err := wire.EncodeSecretRequest(r)
	if err != nil {
		return nil, refusal{err.Error()}
	}
	defer clear(b)
	st, err := s.cfg.Peers.Open(ctx, n, Protocol)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	defer stop()
	st.SetDeadline(time.Now().Add(askDeadline))
	head := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
	if _, err = st.Write(append(head, b...)); err == nil {
		err = st.CloseWrite()
	}
	var answer [5]byte
	if err == nil {
		_, err = io.ReadFull(st, answer[:])
	}
	if err != nil { // also from one of an older version, of which the first read learns that
		st.Reset()
		return nil, fmt.Errorf("it gave no answer, as a node of an older version does not: %w", err)
	}
	size := binary.BigEndian.Uint32(answer[1:])
	switch {
	case answer[0] == wire.StatusBusy:
		return nil, errors.New("it answers too many such requests now")
	case size > uint32(grid.MaxSecret):
		st.Reset()
		return nil, errors.New("its answer is longer than a secret may be")
	}
	out := make([]byte, size)
	if _, err := io.ReadFull(st, out); err != nil {
		return nil, fmt.Errorf("its answer broke off: %w", err)
	}
	if answer[0] != wire.StatusOK {
		return nil, refusal{grid.Clean(string(out), grid.MaxText)}
	}
	return out, nil
}
