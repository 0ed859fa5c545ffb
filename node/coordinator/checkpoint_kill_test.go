package coordinator_test

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// A node is killed at every point of the protocol: the owner for good, or the worker of a rank. Then the other rank's
// worker dies, so that the gang is placed again by whoever owns it. Each rank begins from one checkpoint, which has the
// files of all ranks of that step: a program whose state is a function of the step has the same result. It is no older
// than one that a worker was told is usable, since that is kept by a majority.
func TestCheckpointsOutliveAKillAtEveryPoint(t *testing.T) {
	for _, victim := range []string{"a", "b", "d", "e"} {
		began := map[string]int{}
		point := 0
		for killed := true; killed; point++ {
			var from string
			if from, killed = killAt(t, victim, point); t.Failed() {
				t.Fatalf("%s was killed at point %d", victim, point)
			}
			began[from]++
		}
		t.Logf("%s killed at %d points: began from %v", victim, point-1, began)
		if point < 40 || len(began) < 4 {
			t.Errorf("%s killed at %d points, and began from %v: want several checkpoints", victim, point-1, began)
		}
	}
}

var usable = regexp.MustCompile(`usable (\d+)`)

// killAt runs a gang of two ranks that closes checkpoints, kills a node after so many events, and returns what the gang
// begins from at last; killed = there were so many events.
func killAt(t *testing.T, victim string, point int) (from string, killed bool) {
	w := newNetwork()
	w.must(t)("start a b c d e members=3 cpus=1", "submit a job1 ranks=2 on=d,e retries=9", "run")
	said := 0 // of w.out
	newest, lastUsable := uint64(0), func() (k uint64) {
		for _, m := range usable.FindAllStringSubmatch(w.out.String()[said:], -1) {
			n, _ := strconv.ParseUint(m[1], 10, 64)
			k = max(k, n)
		}
		said = w.out.Len()
		return k
	}
	events := 0
	for step := 1; step <= 4; step++ {
		for rank, name := range []string{"d", "e"} {
			if m := w.member(name); m.n != nil {
				if err := w.closeCheckpoints(m, []string{"job1/" + strconv.Itoa(rank), strconv.Itoa(step)}); err != nil {
					t.Fatal(err)
				}
			}
			for range 7 { // the second closes it while the first one's goes its way
				if events == point && !killed {
					w.kill(w.member(victim), false)
					killed = true
				}
				if slices.ContainsFunc(w.queue, func(d *due) bool { return d.ev.Kind != grid.EvWake }) {
					w.next()
					events++
				}
			}
		}
		newest = max(newest, lastUsable())
		if killed {
			break
		}
	}
	w.events = 0
	w.advance(15 * time.Second) // a takeover
	newest = max(newest, lastUsable())
	other := "d"
	if victim == "d" {
		other = "e"
	}
	if m := w.member(other); m.n != nil {
		w.kill(m, false)
	}
	for _, name := range []string{"d", "e"} {
		if m := w.member(name); m.n == nil {
			if err := w.doAt(m, "restart", nil, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.events = 0
	w.advance(time.Minute)
	for rank, name := range []string{"d", "e"} {
		m := w.member(name)
		if len(m.running) != 1 {
			t.Fatalf("%s runs %d attempts", name, len(m.running))
		}
		begins := wholeCheckpoint(t, &m.running[0])
		if rank == 1 && begins != from {
			t.Errorf("one rank begins from %q, the other one from %q", from, begins)
		}
		from = begins
	}
	if k, _ := strconv.ParseUint(from, 10, 64); k < newest {
		t.Errorf("begins from %q: want %d at least, which was usable", from, newest)
	}
	return from, killed
}

// wholeCheckpoint returns the step of the checkpoint that an attempt begins from; "" = none. It has the files of both
// ranks, and all of that step.
func wholeCheckpoint(t *testing.T, s *grid.Start) (step string) {
	if len(s.Inputs) == 0 {
		return ""
	}
	if s.Before.Ranks != 2 {
		t.Errorf("of an attempt of %d ranks: want 2", s.Before.Ranks)
	}
	if len(s.Inputs) != 2 {
		t.Errorf("%d files: want those of two ranks", len(s.Inputs))
	}
	for rank, f := range s.Inputs {
		step = strings.Split(f.Path, "/")[1]
		k, _ := strconv.ParseUint(step, 10, 64)
		if want := fmt.Sprintf("%s/%d/%d/f", grid.CheckpointFolder, k, rank); f.Path != want {
			t.Errorf("file %s: want %s", f.Path, want)
		}
		if f.Blob != sha256.Sum256(fmt.Append(nil, uint32(rank), k)) {
			t.Errorf("file %s is of another step", f.Path)
		}
	}
	return step
}
