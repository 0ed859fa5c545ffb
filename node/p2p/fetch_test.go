package p2p

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/runner"
	"skep/node/p2p/wire"
)

// noiseOf returns pseudo-random bytes, the same for the same seed.
func noiseOf(seed uint64, n int) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// openThree opens a member that fetches and two that hold blobs.
func openThree(t *testing.T) (a, b, c *member) {
	a = openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	b = openMember(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	c = openMember(t, filepath.Join(t.TempDir(), "c"), nil, a.token(), b.token())
	waitUp(t, a, b, c)
	return a, b, c
}

func (m *member) hasBlob(f grid.File) bool {
	r, _, err := m.Blobs().OpenWhole(context.Background(), f.Blob)
	if err == nil {
		r.Close()
	}
	return err == nil
}

func TestFetchIsSharedAndFallsBack(t *testing.T) {
	a, b, c := openThree(t)
	f := c.put("big", noiseOf(1, 3<<20), false)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() { // b does not have it; c does, though it was not named
			if err := a.runner.Get(t.Context(), b.self, &f); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := a.runner.Fetched(); n != 1 || !a.hasBlob(f) {
		t.Errorf("%d fetches: want one for all who wanted it", n)
	}
	none := grid.File{Path: "none", Blob: grid.BlobID{9}, Size: 5}
	if err := a.runner.Get(t.Context(), b.self, &none); err == nil {
		t.Error("got a blob that nobody has")
	}
}

// serveFalse has a member answer blob requests by sending limit bytes of content and then breaking off.
func (m *member) serveFalse(content []byte, limit int) {
	m.transport.Host().SetStreamHandler(runner.BlobProtocol, func(st network.Stream) {
		var ask [runner.BlobRequest]byte
		io.ReadFull(st, ask[:])
		from := int(binary.BigEndian.Uint64(ask[32:]))
		st.Write(binary.BigEndian.AppendUint64([]byte{wire.StatusOK}, uint64(len(content))))
		st.Write(content[from:min(from+limit, len(content))])
		st.Close()
	})
}

func TestFetchResumes(t *testing.T) {
	a, b, c := openThree(t)
	content := noiseOf(2, 1<<20)
	f := c.put("big", content, false)
	b.serveFalse(content, 300_000) // breaks off each time: the next peer continues
	if err := a.runner.Get(t.Context(), b.self, &f); err != nil || !a.hasBlob(f) {
		t.Errorf("fetch: %v", err)
	}
}

func TestFetchOfFalseContent(t *testing.T) {
	a, b, c := openThree(t)
	content := noiseOf(3, 1<<20)
	f := c.put("big", content, false)
	b.serveFalse(noiseOf(4, len(content)), len(content))
	if err := a.runner.Get(t.Context(), b.self, &f); err != nil || !a.hasBlob(f) {
		t.Errorf("fetch: %v", err)
	}
	if a.Dropped()["blob"] != 1 {
		t.Errorf("dropped %v: want the lie counted", a.Dropped())
	}
	// Half false, half right content: no peer is blamed before each was asked alone.
	g := c.put("other", noiseOf(5, 1<<20), false)
	b.serveFalse(noiseOf(6, 1<<20), 1<<19)
	if err := a.runner.Get(t.Context(), b.self, &g); err != nil || !a.hasBlob(g) {
		t.Errorf("fetch: %v", err)
	}
}

func TestFetchEndsWithItsAttempt(t *testing.T) {
	a, b, _ := openThree(t)
	asked, ended := make(chan struct{}, 8), make(chan struct{}, 8)
	b.transport.Host().SetStreamHandler(runner.BlobProtocol, func(st network.Stream) { // no answer
		asked <- struct{}{}
		for buf := make([]byte, 1024); ; {
			if _, err := st.Read(buf); err != nil && err != io.EOF {
				ended <- struct{}{}
				return
			} else if err != nil {
				time.Sleep(time.Millisecond) // the request has ended: wait for the reset
			}
		}
	})
	f := grid.File{Path: "late", Blob: grid.BlobID{7}, Size: 5}
	id := grid.AttemptID{Task: grid.TaskID{Job: b.job(1)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	spec := rig.Sh("true")
	spec.Inputs = []grid.File{f}
	a.do(func(fx *grid.Effects) {
		fx.Save(grid.RecWork).Work = grid.WorkRecord{ID: id, Spec: spec, State: grid.WorkQueued}
		fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: id, From: b.self, Files: spec.Inputs})
	})
	<-asked
	began := time.Now()
	a.do(func(fx *grid.Effects) { fx.Stops = append(fx.Stops, grid.Stop{Attempt: id}) })
	<-ended
	if took := time.Since(began); took > 7*time.Second || a.fake.count(grid.EvFetched) != 0 {
		t.Errorf("after %v, with %d reports: want it to end with its attempt, without one", took,
			a.fake.count(grid.EvFetched))
	}
}

func TestFetchedFilesArePinnedUntilSaved(t *testing.T) {
	a, b := openPair(t)
	small := openMember(t, filepath.Join(t.TempDir(), "small"), func(c *Config) { c.CacheSize = 100_000 }, a.token(),
		b.token())
	waitUp(t, small, b)
	files := []grid.File{b.put("x", noiseOf(8, 60_000), false), b.put("y", noiseOf(9, 60_000), false)}
	id := grid.AttemptID{Task: grid.TaskID{Job: small.job(1)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	small.do(func(fx *grid.Effects) {
		fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: id, From: b.self, Files: files})
	})
	rig.Await(t, "the fetch ends", func() bool { return small.fake.count(grid.EvFetched) == 1 })
	if ev, _ := small.fake.find(grid.EvFetched, nil); !strings.Contains(ev.Err, "full") {
		t.Errorf("two blobs that do not fit together came one in place of the other: %q", ev.Err)
	}
	rig.Await(t, "nothing is left pinned", func() bool {
		_, _, err := small.Blobs().Put(t.Context(), bytes.NewReader(noiseOf(10, 100_000)), 100_000, false)
		return err == nil
	})
}
