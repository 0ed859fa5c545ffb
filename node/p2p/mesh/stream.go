package mesh

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	libp2p "github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/wire"
)

// Times between two tries to open a stream. The first is what a node may begin later than another; the last bounds how
// long a rank waits once its node can be reached again.
const (
	firstRetry = 20 * time.Millisecond
	lastRetry  = 2 * time.Second

	answerTime = 10 * time.Second // from opening a stream to its status

	// young is how long a stream must have lived for the next to be opened at once.
	young = time.Second
)

// errNotThere is why a node carries nothing yet, or no more.
var errNotThere = errors.New("it carries nothing of that")

// OpenGranted opens a stream, sends its request, and returns it once the other node has granted that.
func OpenGranted(ctx context.Context, peers Peers, n grid.NodeID, protocol string, request []byte) (libp2p.Stream,
	error) {
	st, err := peers.Open(ctx, n, protocol)
	if err != nil {
		return nil, err
	}
	st.SetDeadline(time.Now().Add(answerTime))
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	defer stop()
	_, err = st.Write(request)
	var status [1]byte
	if err == nil {
		_, err = io.ReadFull(st, status[:])
	}
	if err == nil && status[0] != wire.StatusOK {
		err = errNotThere
	}
	if err != nil {
		st.Reset()
		return nil, err
	}
	st.SetDeadline(time.Time{})
	return st, nil
}

// Reopen opens a stream and uses it, again when it breaks, until ctx ends. The pauses grow while streams cannot be
// opened or break soon.
func Reopen(ctx context.Context, open func() (libp2p.Stream, error), use func(libp2p.Stream)) {
	for wait := firstRetry; ctx.Err() == nil; {
		if st, err := open(); err == nil {
			began := time.Now()
			use(st)
			if time.Since(began) > young {
				wait = firstRetry
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait + time.Duration(rand.Int64N(int64(wait)))):
		}
		wait = min(2*wait, lastRetry)
	}
}
