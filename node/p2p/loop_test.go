package p2p

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/internal/rig"
)

func TestNoEffectBeforeTheCommit(t *testing.T) {
	fatal := make(chan error, 1)
	a := openMember(t, filepath.Join(t.TempDir(), "a"), func(c *Config) { c.Fatal = func(err error) { fatal <- err } })
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	waitUp(t, a, b)
	ctx, cancel := context.WithTimeout(t.Context(), rig.Timeout)
	defer cancel()
	submitted := make(chan error, 1)
	a.do(func(fx *grid.Effects) { // a record that cannot be saved
		m := fx.Send(b.self, grid.KindAccept)
		m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: b.job(1)},
			Attempt: grid.Attempt{Epoch: 1, N: 1}})
		fx.Send(b.self, grid.KindState).State.ID = 7 // depends on no record
		fx.Save(0)
	})
	go func() { submitted <- a.Submit(ctx, a.job(1), rig.Sh("true")) }()
	select {
	case <-fatal:
	case <-time.After(rig.Timeout):
		t.Fatal("a failed write does not end the node")
	}
	if err := <-submitted; !errors.Is(err, ErrClosed) {
		t.Errorf("submit: %v: want %v", err, ErrClosed)
	}
	if err := a.Read(ctx, func(*node.Node, grid.Time) {}); !errors.Is(err, ErrClosed) {
		t.Errorf("read: %v: want %v", err, ErrClosed)
	}
	rig.Await(t, "b hears what does not wait", func() bool { return b.fake.count(grid.EvMessage) == 1 })
	a.close()
	rig.Await(t, "b hears that a is gone", func() bool { return !b.fake.isUp(a.self) })
	if ev, _ := b.fake.find(grid.EvMessage, nil); b.fake.count(grid.EvMessage) != 1 || ev.Msg.Kind != grid.KindState {
		t.Error("a message left though its step was not saved")
	}
}

func TestTimersAreOrdered(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var q timers
	var want []grid.Time
	for i := range uint64(1000) {
		at := grid.Time(rng.IntN(200))
		q.set(grid.Wake{At: at, Timer: grid.Timer{Key: i}})
		want = append(want, at)
	}
	q.set(grid.Wake{At: grid.Never})
	slices.Sort(want)
	var last grid.Wake
	for i, at := range want {
		if _, ok := q.due(at - 1); ok {
			t.Fatalf("wake %d came before its time", i)
		}
		w, ok := q.due(at)
		if !ok || w.At != at {
			t.Fatalf("wake %d at %d: want %d", i, w.At, at)
		}
		if w.At == last.At && w.Timer.Key < last.Timer.Key {
			t.Fatal("wakes of one time came in another order than they were set")
		}
		last = w
	}
	if q.next(0) != time.Hour {
		t.Errorf("sleeps %v with nothing to do", q.next(0))
	}
}

func TestAnnouncementsReachEverybody(t *testing.T) {
	a, b, c := openThree(t)
	rig.Await(t, "all hear announcements", func() bool {
		return len(a.transport.Listeners()) == 2 && len(b.transport.Listeners()) == 2
	})
	a.do(func(fx *grid.Effects) {
		fx.Announce(grid.KindCall).Find = grid.Find{ID: 7, Asker: a.self, Engine: grid.EngineProcess,
			Needs: grid.Needs{Resources: grid.Resources{CPU: 1}}, Within: time.Second}
	})
	for _, m := range []*member{b, c} {
		rig.Await(t, m.cfg.Name+" hears the call", func() bool {
			ev, ok := m.fake.find(grid.EvAnnounce, nil)
			return ok && ev.Peer == a.self && ev.Msg.Find.ID == 7
		})
	}
	b.fake.mu.Lock()
	ad := *b.fake.ad
	b.fake.mu.Unlock()
	ad.Leaving = true
	b.do(func(fx *grid.Effects) {
		m := fx.Announce(grid.KindBye)
		m.Digest = append(m.Digest, grid.AdEntry{Ad: &ad})
	})
	rig.Await(t, "a hears the good-bye, signed", func() bool {
		ev, ok := a.fake.find(grid.EvAnnounce, func(ev *grid.Event) bool { return ev.Msg.Kind == grid.KindBye })
		return ok && len(ev.Msg.Digest) == 1 && ev.Msg.Digest[0].Ad.Node == b.self && ev.Msg.Digest[0].Ad.Leaving
	})
}

func TestAdsAreCheckedOnceAndGiveAddresses(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	c := openMember(t, filepath.Join(t.TempDir(), "c"), nil, a.token())
	waitUp(t, a, b)
	waitUp(t, a, c)
	c.fake.mu.Lock()
	ad := c.fake.ad
	c.fake.mu.Unlock()
	digest := func(m *member, to grid.NodeID, ad *grid.Ad) {
		m.do(func(fx *grid.Effects) {
			d := fx.Send(to, grid.KindDigest)
			d.Digest = append(d.Digest, grid.AdEntry{Ad: ad, Hops: 1})
		})
	}
	// repeat: a message may be lost with a connection that is replaced
	tell := func(from, to *member, ad *grid.Ad, n int) {
		var last time.Time
		rig.Await(t, to.cfg.Name+" has the ad of c", func() bool {
			if time.Since(last) > time.Second {
				last = time.Now()
				digest(from, to.self, ad)
			}
			return to.fake.count(grid.EvMessage) >= n
		})
	}
	tell(c, a, ad, 1)
	ev, _ := a.fake.find(grid.EvMessage, nil)
	heard := ev.Msg.Digest[0].Ad
	if heard.Node != c.self || len(heard.Sealed) == 0 || !slices.Equal(heard.Addrs, ad.Addrs) {
		t.Fatalf("heard %+v", heard)
	}
	tell(a, b, heard, 1)
	tell(a, b, heard, 2)
	if all := b.fake.all(grid.EvMessage); len(all) < 2 || all[0].Msg.Digest[0].Ad != all[1].Msg.Digest[0].Ad {
		t.Error("the same ad was decoded again")
	}
	// Now b knows where c is: as a neighbour it is dialled.
	b.do(func(fx *grid.Effects) { fx.Links = append(fx.Links, grid.Link{Peer: c.self, Keep: true}) })
	waitUp(t, b, c)
}

func TestMessageToAPeerThatIsNotConnected(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	c := openMember(t, filepath.Join(t.TempDir(), "c"), nil, a.token())
	waitUp(t, a, b)
	waitUp(t, a, c)
	say := func() {
		b.do(func(fx *grid.Effects) {
			m := fx.Send(c.self, grid.KindAccept)
			m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: c.job(1)}})
		})
	}
	say()
	rig.Await(t, "a message to nowhere is counted", func() bool { return b.Dropped()["not connected"] == 1 })
	b.reach.Learn(c.self, c.reach.Advertised(grid.MaxAddrs), c.self)
	say()
	rig.Await(t, "the message comes, as the address is known", func() bool { return c.fake.count(grid.EvMessage) == 1 })
}

func TestThroughput(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	c := openMember(t, filepath.Join(t.TempDir(), "c"), nil, a.token())
	waitUp(t, a, b)
	waitUp(t, a, c)
	const tasks = 300
	spec := rig.Sh("")
	spec.Command, spec.Count = []string{"true"}, tasks
	start := time.Now()
	if err := a.Submit(t.Context(), a.job(1), spec); err != nil {
		t.Fatal(err)
	}
	ch, stop := a.Watch(a.job(1))
	defer stop()
	for done := 0; done < tasks; {
		select {
		case <-ch:
		case <-time.After(rig.Timeout):
			t.Fatalf("%d of %d tasks ended", done, tasks)
		}
		done = 0
		for i := range uint32(tasks) {
			if v, _ := a.fake.Task(grid.TaskID{Job: a.job(1), Index: i}); v.Result != nil {
				done++
			}
		}
	}
	took := time.Since(start)
	var wall time.Duration
	for i := range uint32(tasks) {
		v, _ := a.fake.Task(grid.TaskID{Job: a.job(1), Index: i})
		wall += v.Result.Wall
	}
	t.Logf("mean wall %v", wall/tasks)
	t.Logf("%d tasks in %v, %.0f a second", tasks, took, tasks/took.Seconds())
}
