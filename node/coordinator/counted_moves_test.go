package coordinator_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// A gang may move once, and its register counts that. Its owner is killed at every point of the move, the next owner
// when ranks run, and the gang breaks its contract under the third one. It has moved once by then, whatever the first
// owner had done: no move is forgotten, and none that was not made counts. That was no loss.
func TestCountedMovesOutliveTwoOwners(t *testing.T) {
	finished, kept := 0, 0
	for point, killed := 0, true; killed; point++ {
		var by string
		if by, killed = killTwoOwners(t, point); t.Failed() {
			t.Fatalf("the owner was killed at point %d", point)
		}
		switch {
		case !killed:
		case by == "third":
			kept++
		default:
			finished++
		}
	}
	t.Logf("the first move was made by the first two owners in %d runs, by the third in %d", finished, kept)
	if finished < 5 || kept < 5 {
		t.Errorf("the first move was made by the first two owners in %d runs, by the third in %d: want many of both",
			finished, kept)
	}
}

var moveText = regexp.MustCompile(`saves task job1/0(#\S+)? pending, moved (\d+)`)

// lostText is the loss of the attempt that was to be given up. Of the next one a rank may start and another not, since
// its owner dies: that is a loss.
var lostText = regexp.MustCompile(`saves task job1/\d(#1\.1)? pending, lost`)

var ownerText = regexp.MustCompile(`saves register job1 epoch \d+ owner (\w)\n`)

// movesOf are the attempts of job1 that have started and were given up for a move, and how many its records say were.
func movesOf(w *network) (attempts []string, said string) {
	for _, m := range moveText.FindAllStringSubmatch(w.out.String(), -1) {
		said = max(said, m[2])
		if m[1] != "" && strings.Contains(w.out.String(), "starts job1/0"+m[1]+",") &&
			!slices.Contains(attempts, m[1]) {
			attempts = append(attempts, m[1])
		}
	}
	return attempts, said
}

// killTwoOwners kills the first owner after so many events, and the second one, and returns which owner made the move;
// killed = there were so many events.
func killTwoOwners(t *testing.T, point int) (by string, killed bool) {
	w := newNetwork()
	do := w.must(t)
	do("start a b c d e f g members=3 cpus=1", "submit a job1 ranks=2 on=e,f,g life=9000 retries=1 moves=1 counted",
		"run")
	slow(t, w, 40)
	w.events = 0
	for events, end := 0, w.now.Add(10*time.Second); w.now < end; w.next() {
		if events == point && !killed {
			w.kill(w.member("a"), false)
			killed = true
		}
		if w.queue[0].ev.Kind != grid.EvWake {
			events++
		}
	}
	if !killed {
		return "", false
	}
	w.events = 0
	w.advance(time.Minute)
	do("restart a", "run")
	owners := ownerText.FindAllStringSubmatch(w.out.String(), -1)
	owner := owners[len(owners)-1][1]
	if at := ranksAt(w); len(at) != 2 || owner == "a" {
		t.Fatalf("ranks run at %v under %s, the second owner\n%s", at, owner, w.out.String())
	}
	w.kill(w.member(owner), false)
	w.events = 0
	w.advance(40 * time.Second)
	by = "third"
	if moved, _ := movesOf(w); len(moved) > 0 {
		by = "other"
	}
	slow(t, w, 60)
	w.events = 0
	w.advance(time.Minute)
	if moved, said := movesOf(w); len(moved) > 1 || said != "1" {
		t.Errorf("attempts %v were given up for moves, and its records say %q: want one\n%s", moved, said, w.out.String())
	}
	if lostText.MatchString(w.out.String()) {
		t.Errorf("a move is a loss\n%s", w.out.String())
	}
	if at := ranksAt(w); len(at) != 2 {
		t.Errorf("ranks run at %v in the end\n%s", at, w.out.String())
	}
	return by, true
}

// slow has both ranks close a checkpoint, and iterations become slow since other users of a machine do.
func slow(t *testing.T, w *network, step int) {
	do, hosts := w.must(t), ranksAt(w)
	if len(hosts) != 2 {
		t.Fatalf("ranks at %v", hosts)
	}
	for _, name := range []string{"e", "f", "g"} {
		do("left " + name + " 1")
	}
	says := func(done int) string { return fmt.Sprintf("progress %s job1/0 %d 1000", hosts[0], done) }
	do(fmt.Sprintf("close %s job1/0 %d", hosts[0], step), fmt.Sprintf("close %s job1/1 %d", hosts[1], step), "run",
		says(step), "advance 10s", says(step+10), "left "+hosts[1]+" 0.1", "advance 30s", says(step+13))
}
