package api

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// awaited returns what the node answers to another one that asks how a job ended, and all that it tells that node while
// the job ends.
func (f *fake) awaited(by grid.NodeID, id grid.JobID) (told []grid.RegisterMessage) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var collect func(ev grid.Event)
	collect = func(ev grid.Event) {
		var fx grid.Effects
		f.now += 1e6
		f.n.Step(f.now, &ev, &fx)
		for i := range fx.Sends {
			if s := &fx.Sends[i]; s.To == by && s.Msg.Kind == grid.KindAwaited {
				told = append(told, s.Msg.Register)
			}
		}
		for _, r := range fx.Starts {
			f.runs = append(f.runs, r.Attempt)
		}
		for _, w := range fx.Wakes { // timers that are due at once
			if w.At <= f.now.Add(50*time.Millisecond) {
				f.now = max(f.now, w.At)
				collect(grid.Event{Kind: grid.EvWake, Timer: w.Timer})
			}
		}
	}
	collect(grid.Event{Kind: grid.EvMessage, Peer: by, Msg: &grid.Message{Kind: grid.KindAwait,
		Register: grid.RegisterMessage{Job: id, Seq: 1}}})
	if len(f.runs) != 1 {
		f.t.Fatalf("%d tasks run: want that of the job", len(f.runs))
	}
	run := f.runs[0]
	f.runs = nil
	collect(grid.Event{Kind: grid.EvStarted, Attempt: run})
	collect(grid.Event{Kind: grid.EvEnded, Attempt: run, Result: &grid.Result{Exit: 3}})
	return told
}

// How a job under access owner ends is told to no other node that waits for it. A job of its own node may wait for it.
func TestEndOfAnOwnersJobIsToldToItsOwnerAlone(t *testing.T) {
	a, b := newFake(t, 1, "alpha"), newFake(t, 2, "beta")
	a.connect(b)
	at := a.serve().URL
	for _, open := range []bool{true, false} {
		j := submit(t, at, "bcde", "")
		if !open {
			j = ownerSpec(t, at, "bcdf")
		}
		id, err := grid.ParseJobID(j.ID)
		if err != nil {
			t.Fatal(err)
		}
		mine := submit(t, at, map[bool]string{true: "bcdg", false: "bcdh"}[open], `,"after":[{"job":"`+j.ID+`"}]`)
		told := a.awaited(b.self, id)
		if open {
			if len(told) < 2 || told[0].Answer != grid.RegisterOK {
				t.Errorf("of a job of members another node is told %+v: want its end", told)
			}
		} else if len(told) != 1 || told[0].Answer != grid.RegisterUnknown || told[0].Done || len(told[0].Entries) > 0 ||
			told[0].Count != 0 {
			t.Errorf("of a job of its owner another node is told %+v: want that it is not known", told)
		}
		a.end(&grid.Result{})
		if _, text := ask(t, "GET", at+"/v1/jobs/"+mine.ID, ""); !strings.Contains(text, `"ended":1`) {
			t.Errorf("the job of the same node that waits for it: %s: want it over", text)
		}
	}
}
