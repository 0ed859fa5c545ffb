package record

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
	"skep/sim"
)

// recorded is the recording of a node of a simulated grid, with what it did in its second run, which begins
// with restored records.
func recorded(t *testing.T, most int64, forge func(steps int, fx *grid.Effects)) ([]byte, int, error) {
	t.Helper()
	var out bytes.Buffer
	var full error
	var rec *Recorder
	steps := 0
	c := sim.Swarm(3)
	c.Faults = []sim.Fault{{At: 20 * time.Second, Kind: sim.Crash, Nodes: []int{0}},
		{At: 22 * time.Second, Kind: sim.Restart, Nodes: []int{0}}}
	c.Check = sim.CheckRecords
	c.Make = func(nc node.Config, wall grid.Wall) (sim.Member, error) {
		n, err := node.New(nc, wall)
		if err != nil || nc.Self[0]|nc.Self[1]|nc.Self[2]|nc.Self[3] != 0 || nc.Boot != 2 {
			return n, err
		}
		rec = New(&out, "test", most, func(err error) { full = err })
		rec.Begin(nc, wall)
		return &tapped{Node: n, rec: rec, steps: &steps, forge: forge}, nil
	}
	w, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.RunUntil(3 * time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := rec.Flush(); err != nil && full == nil {
		t.Fatal(err)
	}
	return out.Bytes(), steps, full
}

type tapped struct {
	*node.Node
	rec   *Recorder
	steps *int
	forge func(steps int, fx *grid.Effects)
}

func (n *tapped) Restore(r *grid.Record) {
	n.rec.Restored(r)
	n.Node.Restore(r)
}

func (n *tapped) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	*n.steps++
	n.rec.Before(now, ev)
	n.Node.Step(now, ev, fx)
	if n.forge != nil {
		n.forge(*n.steps, fx)
	}
	n.rec.After(fx)
}

func TestReplayIsTheSameAtEveryStep(t *testing.T) {
	b, steps, full := recorded(t, 1<<30, nil)
	told := 0
	r, err := Run(bytes.NewReader(b), func(int, grid.Time, string, string) { told++ })
	if err != nil || full != nil {
		t.Fatal(err, full)
	}
	if r.Difference != nil || r.Steps != steps || told != steps || r.Cut || r.Restored == 0 || steps < 60 ||
		r.Header.Version != "test" {
		t.Errorf("%+v of %d steps; differs %+v", r, steps, r.Difference)
	}
}

func TestReplayStopsAtTheFirstDifference(t *testing.T) {
	b, _, _ := recorded(t, 1<<30, func(n int, fx *grid.Effects) {
		if n == 50 {
			fx.Wake(grid.Never, grid.TimerAd, 99)
		}
	})
	r, err := Run(bytes.NewReader(b), nil)
	if err != nil || r.Difference == nil || r.Difference.Step != 50 || r.Steps != 50 {
		t.Fatalf("%+v, %v", r, err)
	}
	if d := r.Difference; !strings.Contains(d.Recorded, "wake 10/99") || strings.Contains(d.Replayed, "wake 10/99") ||
		d.Event == "" {
		t.Errorf("%+v", d)
	}
}

func TestCutRecordingsAreReplayedAsFarAsTheyGo(t *testing.T) {
	b, steps, _ := recorded(t, 1<<30, nil)
	for _, n := range []int{len(b) / 2, len(b)/2 + 1, len(b) - 1} {
		r, err := Run(bytes.NewReader(b[:n]), nil)
		if err != nil || r.Difference != nil || r.Steps == 0 || r.Steps > steps {
			t.Errorf("of %d bytes %d: %+v, %v", len(b), n, r, err)
		}
	}
}

func TestBoundedRecording(t *testing.T) {
	whole, _, _ := recorded(t, 1<<30, nil)
	most := int64(len(whole)) * 3 / 4 // how much of it is restored records is the world's to say
	b, _, full := recorded(t, most, nil)
	if !errors.Is(full, ErrFull) || len(b) >= len(whole) {
		t.Errorf("%d bytes, %v", len(b), full)
	}
	if r, err := Run(bytes.NewReader(b), nil); err != nil || r.Difference != nil || r.Steps == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWhatIsNoRecording(t *testing.T) {
	for name, b := range map[string]string{"empty": "", "text": "hello", "header": magic + "\x02{]",
		"length": magic + "\xff\xff\xff\xff\xff\x7f", "config": magic + "\x02{}"} {
		if _, err := Run(strings.NewReader(b), nil); err == nil {
			t.Errorf("%s: is taken for a recording", name)
		}
	}
}
