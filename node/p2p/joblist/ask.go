package joblist

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"skep/grid"
	"skep/node/listing"
	"skep/node/p2p/wire"
)

// question is a query as it is sent, and the number of jobs that may answer it.
type question struct {
	request []byte
	most    int
}

// ask asks nodes for their jobs, and returns what they answered and who did not.
func (l *Lists) ask(ctx context.Context, nodes []grid.NodeID, q *question) (told []listing.Answer,
	silent []grid.NodeID) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	answers := make([]*listing.Answer, len(nodes))
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(maxAtOnce, len(nodes)) {
		wait.Go(func() {
			for i := range next {
				answers[i], _ = l.askOne(ctx, nodes[i], q)
			}
		})
	}
	for i := range nodes {
		next <- i
	}
	close(next)
	wait.Wait()
	for i, a := range answers {
		if a == nil {
			silent = append(silent, nodes[i])
			continue
		}
		told = append(told, *a)
	}
	return told, silent
}

// errBusy is the answer of a node that has no seat for the stream.
var errBusy = errors.New("is busy")

// askOne asks one node, again while it is busy.
func (l *Lists) askOne(ctx context.Context, n grid.NodeID, q *question) (*listing.Answer, error) {
	if l.peers.IsConnected(n) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerTime)
		defer cancel()
	}
	for {
		a, err := l.askOnce(ctx, n, q)
		if !errors.Is(err, errBusy) {
			return a, err
		}
		select {
		case <-time.After(askAgain):
		case <-ctx.Done():
			return nil, err
		}
	}
}

func (l *Lists) askOnce(ctx context.Context, n grid.NodeID, q *question) (*listing.Answer, error) {
	st, err := l.peers.Open(ctx, n, Protocol)
	if err != nil {
		return nil, err
	}
	defer st.Reset()
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	defer stop()
	if _, err := st.Write(q.request); err != nil {
		return nil, err
	}
	var head [5]byte
	if _, err := io.ReadFull(st, head[:1]); err != nil {
		return nil, err
	}
	if head[0] != wire.StatusOK {
		return nil, errBusy
	}
	if _, err := io.ReadFull(st, head[1:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > wire.MaxJobRows {
		l.peers.Offend(n, "jobs", 1)
		return nil, fmt.Errorf("%d bytes of jobs: want at most %d", size, wire.MaxJobRows)
	}
	b, err := io.ReadAll(io.LimitReader(st, int64(size)))
	if err != nil || len(b) < int(size) {
		return nil, fmt.Errorf("broke off after %d of %d bytes: %w", len(b), size, err)
	}
	rows, more, err := wire.ReadJobRows(b)
	if err == nil && len(rows) > q.most {
		err = fmt.Errorf("%d jobs: want at most %d", len(rows), q.most)
	}
	if err != nil {
		l.peers.Offend(n, "jobs", 1)
		return nil, err
	}
	return &listing.Answer{By: n, Rows: rows, More: more}, nil
}
