package p2p

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/internal/rig"
)

// rogueWorker is the node of a member that runs tasks of others and changes what it has signed of their ends.
type rogueWorker struct {
	*node.Node
	change func(r *grid.Result)
	sent   atomic.Int32
}

func (w *rogueWorker) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	w.Node.Step(now, ev, fx)
	for i := range fx.Sends {
		if m := &fx.Sends[i].Msg; m.Kind == grid.KindResult && m.Result != nil {
			changed := *m.Result
			w.change(&changed)
			m.Result = &changed
			w.sent.Add(1)
		}
	}
}

// A job that needs as many labels as there may be has no room for that of signed ends: it runs without, unless all are
// to be signed.
func TestJobOfManyLabelsIsNotRefused(t *testing.T) {
	t.Parallel()
	for sign, taken := range map[Signing]bool{SignAuto: true, SignAlways: false} {
		m := openMember(t, filepath.Join(t.TempDir(), string(sign)), func(cfg *Config) {
			cfg.newNode, cfg.Node, cfg.Sign = nil, node.Defaults(), sign
			cfg.Node.Members = 1
		})
		s := rig.Sh("exit 7")
		for i := len(s.Needs.Labels); i < grid.MaxLabels; i++ {
			need := grid.LabelNeed{Key: fmt.Sprintf("z%02d", i), Values: []string{"1"}}
			s.Needs.Labels = append(s.Needs.Labels, need)
		}
		if err := m.Submit(context.Background(), m.job(1), s); (err == nil) != taken {
			t.Errorf("sign: %s: %v", sign, err)
		}
	}
}

// The register of a job whose tasks run at most once records which may have been offered, as its signed spec says.
func TestAtMostOnceRecordsOffers(t *testing.T) {
	t.Parallel()
	m := openMember(t, filepath.Join(t.TempDir(), "a"), func(cfg *Config) { cfg.newNode, cfg.Node = nil, node.Defaults() })
	for retries, want := range map[int32]bool{0: true, 2: false} {
		s := rig.Sh("true")
		s.Retries = retries
		sealed, err := m.sealSpec(t.Context(), m.job(1), s)
		if err != nil || sealed.RecordsOffers != want || s.RecordsOffers {
			t.Errorf("retries %d: %+v, %v: want that it records offers: %v", retries, sealed, err, want)
		}
	}
}

// An owner takes no result that its worker has not signed: it could not show later who has said so.
func TestUnsignedResultIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(r *grid.Result)
		taken  bool
	}{
		"as it was signed":  {func(*grid.Result) {}, true},
		"not signed":        {func(r *grid.Result) { r.Proof = "" }, false},
		"signed as another": {func(r *grid.Result) { r.Exit = 0 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rogue *rogueWorker
			a := openMember(t, filepath.Join(t.TempDir(), "a"), func(cfg *Config) {
				cfg.newNode, cfg.Node, cfg.CPUs, cfg.Sign = nil, node.Defaults(), 1, SignAlways
				cfg.Node.Members = 1
			})
			openMember(t, filepath.Join(t.TempDir(), "b"), func(cfg *Config) {
				cfg.Node, cfg.CPUs = node.Defaults(), grid.CPU
				cfg.newNode = func(nc node.Config, w grid.Wall) (stepper, error) {
					n, err := node.New(nc, w)
					rogue = &rogueWorker{Node: n, change: c.change}
					return rogue, err
				}
			}, a.token())
			rig.Await(t, "a sees the worker", func() bool { return a.connected() >= 1 })
			s := rig.Sh("exit 7")
			s.Retries = 2
			id := a.job(1)
			if err := a.Submit(context.Background(), id, s); err != nil {
				t.Fatal(err)
			}
			ended := func() (end *grid.Result) {
				a.Read(context.Background(), func(n *node.Node, _ grid.Time) {
					if x := n.Tasks(id, nil); len(x) > 0 && x[0].State == grid.Ended {
						end = x[0].Result
					}
				})
				return end
			}
			if c.taken {
				rig.Await(t, "the end", func() bool { return ended() != nil })
				if r := ended(); r.Exit != 7 || r.Proof == "" {
					t.Errorf("%+v is shown", r)
				}
				return
			}
			rig.Await(t, "the result to come twice", func() bool { return rogue.sent.Load() >= 2 })
			if r := ended(); r != nil {
				t.Errorf("%+v is shown", r)
			}
		})
	}
}
