package coordinator_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// A gang moves, and a node is killed at every point from before the owner hears of slow iterations until the ranks of
// the next attempt run: the owner for good, or a worker of the old schedule, the new one, or both. In the end the ranks
// of one attempt run, and no others, from one checkpoint with the files of both ranks: no older one than was kept. A
// program whose state is a function of the step has the same result. What was moved has not moved again without cause.
func TestMovesOutliveAKillAtEveryPoint(t *testing.T) {
	for _, victim := range []string{"a", "b", "d", "e", "f"} {
		point, moved, _ := killAtEveryPoint(t, victim, killInMove)
		if point < 40 || moved == 0 {
			t.Errorf("%s killed at %d points, and moved in %d: want many", victim, point-1, moved)
		}
	}
}

// killAtEveryPoint has a node killed at each point of a run, and returns how many there were, and how many runs moved
// and did not.
func killAtEveryPoint(t *testing.T, victim string, run func(t *testing.T, victim string, point int) (bool, bool)) (
	points, moved, kept int) {
	for killed := true; killed; points++ {
		var moves bool
		if moves, killed = run(t, victim, points); t.Failed() {
			t.Fatalf("%s was killed at point %d", victim, points)
		}
		if moves {
			moved++
		} else {
			kept++
		}
	}
	t.Logf("%s killed at %d points: moved in %d runs, not in %d", victim, points-1, moved, kept)
	return points, moved, kept
}

// killInMove has a gang move, kills a node after so many events, and reports whether the gang had moved by then; killed
// = there were so many events.
func killInMove(t *testing.T, victim string, point int) (moved, killed bool) {
	w := newNetwork()
	do := w.must(t)
	do("start a b c d e f members=3 cpus=1", "submit a job1 ranks=2 on=d,e,f retries=9 life=9000", "run")
	hosts := ranksAt(w)
	if len(hosts) != 2 {
		t.Fatalf("ranks at %v", hosts)
	}
	do("close "+hosts[0]+" job1/0 40", "close "+hosts[1]+" job1/1 40", "run", "progress "+hosts[0]+" job1/0 40 1000",
		"advance 10s", "left "+hosts[1]+" 0.1", "advance 11s", "progress "+hosts[0]+" job1/0 41 1000")
	w.events = 0
	began := w.out.Len()
	for events := 0; w.now < clockStart.Add(120*time.Second); {
		if events == point && !killed {
			w.kill(w.member(victim), false)
			killed = true
		}
		if len(ranksAt(w)) == 2 && strings.Contains(w.out.String()[began:], "starts job1/1#1.2") {
			break
		}
		if w.queue[0].ev.Kind != grid.EvWake {
			events++
		}
		w.next()
	}
	moved = strings.Contains(w.out.String()[began:], "moved 1")
	w.events = 0
	w.advance(time.Minute)
	for _, name := range []string{"b", "d", "e", "f"} {
		if m := w.member(name); m.n == nil {
			if err := w.doAt(m, "restart", nil, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.events = 0
	w.advance(time.Minute)
	var attempt grid.Attempt
	for rank, name := range ranksAt(w) {
		m := w.member(name)
		if len(m.running) != 1 || rank > 0 && m.running[0].Attempt.Attempt != attempt {
			t.Fatalf("%s runs %d attempts, the first of them %v beside %v", name, len(m.running), m.running[0].Attempt, attempt)
		}
		attempt = m.running[0].Attempt.Attempt
		if from := wholeCheckpoint(t, &m.running[0]); from != "40" && attempt != (grid.Attempt{Epoch: 1, N: 1}) {
			t.Errorf("rank %d of %v begins from %q", rank, attempt, from)
		} else if want := []uint32{4500, 4500}; from != "" && !slices.Equal(m.running[0].Before.Shares, want) {
			t.Errorf("rank %d of %v begins from shares %v, want %v", rank, attempt, m.running[0].Before.Shares, want)
		}
	}
	if n := len(ranksAt(w)); n != 2 {
		t.Fatalf("%d ranks run", n)
	}
	if strings.Contains(w.out.String(), "moved 2\n") {
		t.Error("it has moved twice")
	}
	for rank, name := range ranksAt(w) {
		do("end " + name + " job1/" + strconv.Itoa(rank) + " exit 0")
	}
	do("run")
	for rank := range 2 {
		if !strings.Contains(w.out.String(), "saves task job1/"+strconv.Itoa(rank)+"#"+attempt.String()+" ended exit 0") {
			t.Errorf("the end of rank %d is not recorded", rank)
		}
	}
	return moved, killed
}

// ranksAt returns the nodes at which ranks run, by rank.
func ranksAt(w *network) (at []string) {
	for rank := range uint32(2) {
		for _, m := range w.nodes {
			for _, s := range m.running {
				if s.Attempt.Task.Index == rank {
					at = append(at, m.name)
				}
			}
		}
	}
	return at
}
