package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/wire"
)

// sendRemoteStdin is SendStdin to another node.
func (r *Runner) sendRemoteStdin(ctx context.Context, worker grid.NodeID, id grid.AttemptID, in io.Reader) (bool,
	error) {
	st, err := r.cfg.Peers.Open(ctx, worker, StdinProtocol)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrStdinUnknown, err)
	}
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	defer stop()
	st.SetWriteDeadline(time.Now().Add(requestDeadline))
	status := make(chan statusRead, 1)
	if _, err := st.Write(wire.AppendAttempt(make([]byte, 0, StdinRequest), id)); err != nil {
		st.Reset()
		return false, fmt.Errorf("%w: %w", ErrStdinUnknown, err)
	}
	st.SetWriteDeadline(time.Time{})
	switch s := readStatus(st); {
	case s.err != nil: // also where the seat was given away
		st.Reset()
		return false, fmt.Errorf("%w: %w", ErrStdinUnknown, s.err)
	case s.status == wire.StatusTaken:
		st.Close()
		return false, errStdinTaken
	case s.status != wire.StatusOK:
		st.Close()
		return false, ErrStdinUnknown
	}
	go func() { status <- readStatus(st) }()
	copied := make(chan error, 1)
	go func() { copied <- copyToPeer(st, in) }() // it may read until in is closed
	select {
	case err := <-copied:
		if err != nil {
			st.Reset()
			return false, err
		}
	case s := <-status: // of a complete input too, if it comes before copyToPeer has returned
		st.Reset()
		return s.status == wire.StatusOK && s.err == nil, s.err
	}
	s := <-status
	st.Close()
	return s.status == wire.StatusOK && s.err == nil, s.err
}

// errWorkerLost reports that the stream to a worker broke off.
var errWorkerLost = errors.New("the connection to the node that runs the task was lost")

// statusRead is a status that a peer sent, or why none came.
type statusRead struct {
	status byte
	err    error
}

func readStatus(st io.Reader) statusRead {
	var b [1]byte
	if _, err := io.ReadFull(st, b[:]); err != nil {
		return statusRead{err: errWorkerLost}
	}
	return statusRead{status: b[0]}
}

// stdinMessage is how much is written to a stream at a time. The multiplexer makes one message of it, and with its
// header of 12 bytes that is one of the encrypted connection, of 65,519 bytes at most, in a buffer of 64 KiB. More
// would be sent, and received, as a full message and a message of a few bytes.
const stdinMessage = 64<<10 - 32

// copyToPeer copies in to a stream as fast as the peer takes it, and then closes its side.
func copyToPeer(st network.Stream, in io.Reader) error {
	err := copyPieces(in, func(b []byte) error {
		for m := range slices.Chunk(b, stdinMessage) {
			if _, err := st.Write(m); err != nil {
				return errWorkerLost
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, io.EOF):
		return st.CloseWrite()
	case errors.Is(err, errWorkerLost):
		return err
	}
	return fmt.Errorf("who sent it is gone: %w", err)
}
