package instance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"

	"skep/grid"
	"skep/node/p2p/transport"
	"skep/node/p2p/wire"
)

// Protocol is the protocol of streams by which an instance asks a witness, and the witness another instance. The
// answer to opFind is a status and, with wire.StatusOK, a statement and the address at which the witness sees its
// instance, each with its length in a byte before it; that to opProve ends after the statement.
const Protocol = "/skep/instance/2"

// Times of a question.
const (
	proveTime = 4 * time.Second // in which an instance that lives proves itself
	findTime  = proveTime + time.Second
)

// maxAddr bounds the text of an address.
const maxAddr = 64

var (
	errNone = errors.New("no other instance")
	errBusy = errors.New("busy")
)

// Suspect asks a witness that told of another instance and waits for the answer. It reports whether that other instance
// lives.
func (w *Watch) Suspect(ctx context.Context, witness grid.NodeID) (lives bool) {
	c, err := w.find(ctx, witness)
	if err != nil {
		return errors.Is(err, errBusy)
	}
	w.heard(c)
	return true
}

// AskAll asks nodes, before this one does anything else, and returns the instance for which this one is to stop; nil if
// none answers so while ctx lasts. asked is how many of the nodes answered.
func (w *Watch) AskAll(ctx context.Context, nodes []grid.NodeID) (later *Copy, asked int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() {
			c, err := w.find(ctx, n)
			mu.Lock()
			defer mu.Unlock()
			if err == nil || errors.Is(err, errNone) {
				asked++
			}
			if err == nil && later == nil && w.heard(c) {
				later = c
				cancel()
			}
		})
	}
	all.Wait()
	return later, asked
}

// find has a witness find another instance of this node, and returns it once it has proved that it lives.
func (w *Watch) find(ctx context.Context, witness grid.NodeID) (*Copy, error) {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	st, err := w.transport.OpenStream(ctx, witness, Protocol)
	if err != nil {
		return nil, err
	}
	defer st.Reset()
	r := request{op: opFind, asker: w.cfg.Instance}
	rand.Read(r.challenge[:])
	b, err := exchange(ctx, st, &r)
	if errors.Is(err, errNone) {
		w.Joined()
	}
	if err != nil {
		return nil, err
	}
	addr, err := readShort(st, maxAddr)
	if err != nil {
		return nil, err
	}
	s, err := readStatement(w.cfg.Self, &r, b)
	if err != nil {
		w.transport.Offend(witness, "instance", 4)
		return nil, err
	}
	if s.Instance == w.cfg.Instance {
		return nil, errNone // it had this one sign its own challenge
	}
	return &Copy{Statement: s, Process: unseal(w.cfg.Key, s.sealed), Node: w.cfg.Self,
		Addr: grid.Clean(string(addr), maxAddr), Witness: witness, Seen: time.Now()}, nil
}

// exchange sends a request and returns the statement that answers it. It ends with ctx.
func exchange(ctx context.Context, st network.Stream, r *request) ([]byte, error) {
	if at, ok := ctx.Deadline(); ok {
		st.SetDeadline(at)
	}
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	defer stop()
	if _, err := st.Write(r.bytes()); err != nil {
		return nil, err
	}
	var status [1]byte
	if _, err := io.ReadFull(st, status[:]); err != nil {
		return nil, err
	}
	switch status[0] {
	case wire.StatusOK:
		return readShort(st, signedSize)
	case wire.StatusBusy:
		return nil, errBusy
	}
	return nil, errNone
}

// readShort reads bytes with their count before them.
func readShort(r io.Reader, most int) ([]byte, error) {
	var size [1]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	if int(size[0]) > most {
		return nil, fmt.Errorf("%d bytes: want at most %d", size[0], most)
	}
	b := make([]byte, size[0])
	_, err := io.ReadFull(r, b)
	return b, err
}

// Service returns the service by which this node is a witness for its peers, and proves itself to other instances.
func (w *Watch) Service() transport.Service {
	return transport.Service{Protocol: Protocol, Request: requestSize, PerPeer: 4, All: 64, Inbound: 8,
		Cooldown: time.Second, Serve: w.serve}
}

func (w *Watch) serve(from grid.NodeID, st network.Stream, b []byte, out io.Writer) {
	r, ok := readRequest(b)
	if !ok {
		w.transport.Offend(from, "request", 1)
		st.Reset()
		return
	}
	var answer []byte
	var err error
	if r.op == opFind {
		answer, err = w.witness(from, st.Conn(), &r)
	} else {
		answer, err = w.prove(from, &r)
	}
	switch {
	case errors.Is(err, errBusy):
		answer = []byte{wire.StatusBusy}
	case err != nil:
		answer = []byte{wire.StatusNone}
	}
	out.Write(answer)
}

// witness has another instance of a peer prove itself to the one that asks over a connection. One that does not answer
// is taken for dead, and its connection is closed, so that the asker can take its place. One that answers that it is
// busy, or that it does not know the protocol, lives and proves nothing (unproven.go): the asker is told to ask again.
func (w *Watch) witness(n grid.NodeID, asker network.Conn, r *request) ([]byte, error) {
	w.transport.NoteInstance(n, r.asker, asker)
	c := w.transport.ConnOfOther(n, r.asker)
	if c == nil {
		return nil, errNone
	}
	ctx, cancel := context.WithTimeout(w.work.Context(), proveTime)
	defer cancel()
	forwarded := *r
	forwarded.op = opProve
	var b []byte
	st, err := c.Open(ctx, Protocol)
	if err == nil {
		defer st.Reset()
		b, err = exchange(ctx, st, &forwarded)
	}
	if errors.Is(err, multistream.ErrNotSupported[protocol.ID]{}) {
		err = errBusy
	}
	if errors.Is(err, errBusy) {
		if w.unproven.lasts(n, time.Now()) {
			w.cfg.Log.Warn("two processes may have the identity of a node: one of them lives and does not prove it: stop "+
				"one of them, or bring it up to date", "node", n.Short(), "addr", ipOf(c), "and addr",
				asker.RemoteMultiaddr().String())
		}
		return nil, err
	}
	w.unproven.end(n)
	if err != nil {
		if !errors.Is(err, errNone) {
			c.Close()
		}
		return nil, err
	}
	s, err := readStatement(n, r, b)
	if err != nil {
		return nil, errNone
	}
	addr := ipOf(c)
	if w.note(&Copy{Statement: s, Node: n, Addr: addr, Witness: w.cfg.Self, Seen: time.Now()}) {
		w.cfg.Log.Warn("two processes have the identity of a node: its data folder was copied", "node", n.Short(), "addr",
			addr, "and addr", asker.RemoteMultiaddr().String())
	}
	answer := append([]byte{wire.StatusOK, byte(len(b))}, b...)
	return append(append(answer, byte(len(addr))), addr...), nil
}

// prove signs the challenge of another instance, and has the witness find that one in turn.
func (w *Watch) prove(witness grid.NodeID, r *request) ([]byte, error) {
	if r.asker == w.cfg.Instance {
		return nil, errNone
	}
	own, err := w.own()
	if err != nil {
		return nil, err
	}
	b, err := own.sign(w.cfg.Key, r)
	if err != nil {
		return nil, err
	}
	w.askedOnce.Do(func() { close(w.asked) })
	if w.mayCheck(witness) {
		w.work.Go(func() { w.Suspect(w.work.Context(), witness) })
	}
	return append([]byte{wire.StatusOK, byte(len(b))}, b...), nil
}
