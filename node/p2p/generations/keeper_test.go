package generations

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/grid"
	"skep/node/generation"
	"skep/node/p2p/lifecycle"
)

// folder is a data folder whose node starts in the test.
type folder struct {
	t     *testing.T
	key   ed25519.PrivateKey
	data  ds.Batching
	saved uint64          // by the running process
	later map[uint64]bool // instances that are to stop for this one
	stops int             // times that the node was told to do nothing more
	ends  atomic.Int32    // times that it was told to end
	work  *lifecycle.Group
}

func newFolder(t *testing.T) *folder {
	return &folder{t: t, key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)),
		data: dssync.MutexWrap(ds.NewMapDatastore()), later: map[uint64]bool{}}
}

// start starts the node: the process before has ended, and what it writes is on disk.
func (f *folder) start(s generation.Start) (*Keeper, error) {
	f.end()
	f.work = lifecycle.New(f.t.Context())
	f.saved = s.Saved
	return Open(f.work, Config{
		Self: grid.NodeID(f.key.Public().(ed25519.PublicKey)), Key: f.key, Start: s, Dir: "data",
		Saved: func() uint64 { return f.saved }, Now: func() grid.Time { return grid.Time(time.Now().UnixNano()) },
		Data: f.data,
		Log:  slog.New(slog.DiscardHandler), Outlived: func(i uint64) bool { return f.later[i] },
		PutBack: func(error) { f.stops++ }, Fatal: func(error) { f.ends.Add(1) },
	})
}

func (f *folder) end() {
	if f.work != nil {
		f.work.Cancel()
		f.work.Wait()
	}
}

func (f *folder) mustStart(s generation.Start) *Keeper {
	f.t.Helper()
	k, err := f.start(s)
	if err != nil {
		f.t.Fatal(err)
	}
	return k
}

func (f *folder) told(k *Keeper, s generation.Statement, age time.Duration) bool {
	return k.Told(grid.NodeID{2}, s.Sign(f.key), age)
}

// What a process has saved that stopped for this one is not missing, in later starts neither; what others have, is. It
// is again if this one stops for that one after all.
func TestStatementOfAnOutlivedProcess(t *testing.T) {
	f := newFolder(t)
	start := generation.Start{Boot: 7, Instance: 70, Saved: 100}
	later := generation.Statement{Boot: 8, Instance: 80, Saved: 200}
	f.later[80] = true
	if !f.told(f.mustStart(start), later, time.Hour) {
		t.Fatal("stops for what a process has saved that stopped for this one")
	}
	clear(f.later)
	start = generation.Start{Boot: 9, Instance: 90, Saved: 110}
	later.Saved = 300
	if k := f.mustStart(start); !f.told(k, later, time.Hour) {
		t.Fatal("stops at the next start")
	}
	k := f.mustStart(start)
	k.Yield(80)
	if !f.told(k, generation.Statement{Boot: 8, Instance: 81, Saved: 110}, time.Hour) {
		t.Error("stops for what it has")
	}
	k = f.mustStart(start)
	if f.told(k, later, time.Hour) || f.stops != 1 {
		t.Errorf("goes on, though it lacks what the process has saved for which one of this folder stopped")
	}
	if _, err := f.start(start); !errors.Is(err, ErrPutBack) {
		t.Errorf("the next start: %v, want that it is refused", err)
	}
}

// Whether another process stops for this one is not for a peer to say.
func TestOnlyAProvedProcessIsOutlived(t *testing.T) {
	f := newFolder(t)
	start := generation.Start{Boot: 7, Instance: 70, Saved: 100}
	other := generation.Statement{Boot: 8, Instance: 80, Saved: 200}
	f.later[81] = true
	if f.told(f.mustStart(start), other, time.Hour) || f.stops != 1 {
		t.Error("goes on, though it lacks what another process has saved")
	}
}

// A process that has saved less than it has stated itself was put back with the memory of its machine.
func TestProcessThatWasPutBackInMemoryStops(t *testing.T) {
	f := newFolder(t)
	k := f.mustStart(generation.Start{Boot: 7, Instance: 70, Saved: 100})
	for f.saved = range uint64(200) {
		if !f.told(k, generation.Statement{Boot: 7, Instance: 70, Saved: f.saved}, 0) {
			t.Fatalf("stops for what it has stated itself: %d", f.saved)
		}
	}
	stated := generation.Statement{Boot: 7, Instance: 70, Saved: f.saved}
	f.saved = 150
	if f.told(k, stated, 0) || f.stops != 1 {
		t.Error("goes on, though it has forgotten what it had saved")
	}
}

// slow is a disk on which a write takes until it is released.
type slow struct {
	ds.Batching
	release chan struct{}
}

func (s slow) Put(ctx context.Context, key ds.Key, value []byte) error {
	<-s.release
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Batching.Put(ctx, key, value)
}

// A node that was put back halts before anything is written, is not held up by the disk, and ends once what shows it is
// on disk, also where it is being stopped meanwhile.
func TestNodeHaltsBeforeTheEvidenceIsWritten(t *testing.T) {
	f := newFolder(t)
	disk := slow{f.data, make(chan struct{})}
	f.data = disk
	start := generation.Start{Boot: 7, Instance: 70, Saved: 100}
	k := f.mustStart(start)
	if f.told(k, generation.Statement{Boot: 8, Instance: 80, Saved: 200}, time.Hour) || f.stops != 1 {
		t.Fatal("the node is not halted")
	}
	k.Sent(grid.NodeID{2})
	if f.told(k, generation.Statement{}, 0) || f.stops != 1 {
		t.Error("it goes on, or is halted twice")
	}
	if f.ends.Load() != 0 {
		t.Error("it ends before what shows it is on disk")
	}
	f.work.Cancel()
	close(disk.release)
	f.work.Wait()
	if f.ends.Load() != 1 {
		t.Errorf("it is told to end %d times, want once", f.ends.Load())
	}
	if _, err := f.start(start); !errors.Is(err, ErrPutBack) {
		t.Errorf("the next start: %v, want that it is refused", err)
	}
}

// busy are peers that cannot be told.
type busy struct{ tried atomic.Int32 }

func (b *busy) OpenStream(context.Context, grid.NodeID, protocol.ID) (network.Stream, error) {
	b.tried.Add(1)
	return nil, errBusy
}

// A peer that could not be told is told again a second later, also by a node that sends it nothing.
func TestPeerThatCouldNotBeToldIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFolder(t)
		k := f.mustStart(generation.Start{Boot: 1, Instance: 10})
		var peers busy
		k.Attach(&peers)
		k.Up(grid.NodeID{2}, true)
		for n := range int32(5) {
			synctest.Wait()
			if got := peers.tried.Load(); got != n+1 {
				t.Errorf("tried %d times in %d s, want %d", got, n, n+1)
			}
			time.Sleep(generation.Interval)
		}
		f.end()
	})
}
