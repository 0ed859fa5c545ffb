package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skep/grid"
	"skep/node/p2p/blob"
	"skep/node/p2p/lifecycle"
)

// Bounds of fetching.
const (
	fetchesPerPeer = 4  // streams to one peer at a time
	fetchesAll     = 16 // streams at a time
	fetchesPerJob  = 4  // blobs of one attempt at a time
	maxHolders     = 8  // peers asked for one blob
)

// fetcher fetches blobs from peers, each once: further callers wait for the download that is under way.
type fetcher struct {
	cfg      *Config
	work     *lifecycle.Group
	fetched  atomic.Uint64 // blobs, or tried to
	all      chan struct{}
	deposits depositAdmission

	mu        sync.Mutex
	downloads map[grid.BlobID]*download
	peers     map[grid.NodeID]*slots
}

// download is a download under way.
type download struct {
	done chan struct{}
	err  error
}

// slots bounds the streams to one peer; users counts the holders and waiters.
type slots struct {
	free  chan struct{}
	users int
}

func newFetcher(cfg *Config, work *lifecycle.Group) *fetcher {
	return &fetcher{cfg: cfg, work: work, deposits: depositAdmission{dir: cfg.DataDir, reserve: cfg.DiskLow},
		all: make(chan struct{}, fetchesAll), downloads: make(map[grid.BlobID]*download), peers: make(map[grid.NodeID]*slots)}
}

// fetch fetches files. Deposits of other nodes' jobs are rate-limited and leave a reserve on the disk.
func (f *fetcher) fetch(ctx context.Context, x *grid.Fetch) error {
	if x.Deposit {
		leave, err := f.deposits.admit(ctx, x.From, sizeOf(x.Files))
		if err != nil {
			return err
		}
		defer leave()
	}
	return f.files(ctx, x.From, x.Files, x.Others)
}

// files fetches files, a few at a time, and returns the first error.
func (f *fetcher) files(ctx context.Context, from grid.NodeID, files []grid.File, others []grid.NodeID) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	some := make(chan struct{}, fetchesPerJob)
	for i := range files {
		if f.cfg.Blobs.Has(files[i].Blob) {
			continue
		}
		some <- struct{}{}
		wait.Go(func() {
			defer func() { <-some }()
			if err := f.get(ctx, from, &files[i], others...); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// get fetches a blob: from the given node, then from others that should have it, then from anybody.
func (f *fetcher) get(ctx context.Context, from grid.NodeID, file *grid.File, others ...grid.NodeID) error {
	for ctx.Err() == nil {
		if f.cfg.Blobs.Has(file.Blob) {
			return nil
		}
		f.mu.Lock()
		other := f.downloads[file.Blob]
		if other == nil {
			own := &download{done: make(chan struct{})}
			f.downloads[file.Blob] = own
			f.mu.Unlock()
			own.err = f.download(ctx, file, f.holders(file.Size, from, others))
			f.mu.Lock()
			delete(f.downloads, file.Blob)
			f.mu.Unlock()
			close(own.done)
			return own.err
		}
		f.mu.Unlock()
		select {
		case <-other.done: // if it failed, try once more, from this caller's nodes
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// download fetches a blob from the first of some nodes that has it. Where the parts of several peers do not make up
// the blob, each peer is tried alone, to find out which one sent false data.
func (f *fetcher) download(ctx context.Context, file *grid.File, holders []grid.NodeID) error {
	f.fetched.Add(1)
	src := &blobSource{f: f, ctx: ctx, file: file, holders: holders}
	defer src.close()
	for {
		err := f.cfg.Blobs.PutExpected(ctx, file.Blob, file.Size, src, true)
		src.close()
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, blob.ErrContent):
			f.cfg.Log.Debug("fetch", "blob", file.Blob, "error", err)
			if src.err != nil {
				err = src.err
			}
			return fmt.Errorf("fetch %.12s of %q: %w", file.Blob, file.Path, err)
		case len(src.contributors) == 0: // what is named has no bytes, and the hash of something else
			return fmt.Errorf("fetch %.12s of %q: %w", file.Blob, file.Path, err)
		case len(src.contributors) == 1:
			f.cfg.Peers.Offend(src.contributors[0], "blob", 4)
			src.exclude(src.contributors[0])
		default:
			f.cfg.Drop("blob")
			src.single = true
		}
		src.rewind()
	}
}

// holders returns whom to ask for a blob of a size, in order: nodes that should have it and are connected, some others
// that are connected, and nodes that should have it but would have to be dialled, for they may be gone. Those that
// should have it come in the order in which they are expected to have sent it, and others before one that is expected
// to take longer than they would by so much that it is worth a question.
func (f *fetcher) holders(size grid.Bytes, from grid.NodeID, others []grid.NodeID) []grid.NodeID {
	var list, away []grid.NodeID
	for _, n := range append([]grid.NodeID{from}, others...) {
		switch {
		case n.IsZero() || n == f.cfg.Self || slices.Contains(list, n) || slices.Contains(away, n):
		case f.cfg.Peers.IsConnected(n):
			list = append(list, n)
		case f.cfg.Peers.Dialable(n):
			away = append(away, n)
		}
	}
	should := len(list)
	for _, n := range f.cfg.Peers.Connected() {
		if n != from && len(list) < maxHolders && !slices.Contains(list, n) && !slices.Contains(away, n) {
			list = append(list, n)
		}
	}
	now, takes := time.Now(), make(map[grid.NodeID]time.Duration, len(list))
	for k, n := range list {
		takes[n] = grid.Seconds(min(float64(size)/f.cfg.meter.Received.Of(n, now), mostTakes)).Truncate(leastSooner)
		if k >= should {
			takes[n] += leastSooner
		}
	}
	slices.SortStableFunc(list, func(a, b grid.NodeID) int { return cmp.Compare(takes[a], takes[b]) })
	return append(list, away...)
}

// mostTakes bounds the time that a blob is expected to take, in seconds: from a peer that sends next to nothing it
// would be beyond what a time can be.
const mostTakes = 1e6

// leastSooner is by how much sooner a blob has to come from a node for that to be asked first: one that may not have it
// is asked in vain.
const leastSooner = time.Second

// slot waits for a stream to a peer and returns the function that frees it.
func (f *fetcher) slot(ctx context.Context, n grid.NodeID) (release func(), err error) {
	f.mu.Lock()
	s := f.peers[n]
	if s == nil {
		s = &slots{free: make(chan struct{}, fetchesPerPeer)}
		f.peers[n] = s
	}
	s.users++
	f.mu.Unlock()
	leave := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if s.users--; s.users == 0 {
			delete(f.peers, n)
		}
	}
	select {
	case s.free <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
	select {
	case f.all <- struct{}{}:
	case <-ctx.Done():
		<-s.free
		leave()
		return nil, ctx.Err()
	}
	return func() { <-f.all; <-s.free; leave() }, nil
}
