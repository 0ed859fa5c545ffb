package p2p

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"skep/grid"
	"skep/node"
	"skep/node/chain"
	"skep/node/p2p/internal/rig"
)

// rogueKeeper is the node of a member that keeps jobs of others, as every node does, and tells their origin that they
// have ended well, as their owner of a later epoch. Its own key is all that it can sign with.
type rogueKeeper struct {
	*node.Node
	self  grid.NodeID
	votes bool // it votes for itself, and assigns the task to itself
	sign  chain.Signer

	mu       sync.Mutex
	answered grid.RegisterAnswer // the origin's answer
}

func (r *rogueKeeper) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	var forged *grid.Message
	if ev.Kind == grid.EvMessage && ev.Msg.Kind == grid.KindWrite && ev.Msg.Register.Spec != nil {
		forged = r.forge(&ev.Msg.Register)
	} else if ev.Kind == grid.EvMessage && ev.Msg.Kind == grid.KindWriteAck {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.answered = ev.Msg.Register.Answer
	}
	r.Node.Step(now, ev, fx)
	if forged != nil {
		m := fx.Send(forged.Register.Job.Origin, grid.KindWrite)
		m.Register = forged.Register
	}
}

// forge makes the end of a job's first task.
func (r *rogueKeeper) forge(g *grid.RegisterMessage) *grid.Message {
	end := &grid.Result{Cause: grid.Exited, Stdout: grid.Output{Inline: []byte("forged"), Size: 6}}
	a := grid.Attempt{Epoch: 5, N: 1}
	m := &grid.Message{Register: grid.RegisterMessage{Job: g.Job, Epoch: a.Epoch, Seq: 1, Done: true}}
	if r.votes && g.Spec.Signed {
		c := chain.New(r.sign, r.self, g.Job, g.Spec, g.Members)
		for place, id := range g.Members {
			if id == r.self {
				m.Register.Mandate = chain.Mandate([]chain.CastVote{{Place: uint8(place), Signature: c.Vote(a.Epoch, r.self)}})
			}
		}
		c.Own(a.Epoch, m.Register.Mandate)
		id := grid.AttemptID{Task: grid.TaskID{Job: g.Job}, Attempt: a}
		end = chain.Attest(r.sign, r.self, id, c.Assign(0, a, r.self), end)
	}
	m.Register.Entries = []grid.Entry{{Epoch: a.Epoch, Attempt: a, Worker: r.self, Result: end}}
	return m
}

func (r *rogueKeeper) answer() grid.RegisterAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answered
}

// A keeper that was not voted for says how a job has ended. Of a job that is not signed it is believed. Of a signed one
// its origin shows what the worker has signed.
func TestForgedEndIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sign   Signing
		votes  bool
		answer grid.RegisterAnswer
		want   string
	}{
		"not signed":            {SignNever, false, grid.RegisterOK, "forged"},
		"no signature":          {SignAuto, false, grid.RegisterUnknown, "honest"},
		"signed by itself only": {SignAlways, true, grid.RegisterUnknown, "honest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rogue *rogueKeeper
			open := func(name string, cpus grid.MilliCPU, join ...string) *member {
				return openMember(t, filepath.Join(t.TempDir(), name), func(cfg *Config) {
					cfg.newNode, cfg.Node, cfg.CPUs, cfg.Sign = nil, node.Defaults(), cpus, c.sign
					if name == "rogue" {
						cfg.newNode = func(nc node.Config, w grid.Wall) (stepper, error) {
							n, err := node.New(nc, w)
							rogue = &rogueKeeper{Node: n, self: nc.Self, sign: nc.Signer, votes: c.votes}
							return rogue, err
						}
					}
				}, join...)
			}
			a := open("a", grid.CPU)
			b := open("b", 1, a.token())
			open("rogue", 1, a.token())
			for _, m := range []*member{a, b} {
				rig.Await(t, m.cfg.Name+" sees both others", func() bool { return m.connected() >= 2 })
			}
			gate := filepath.Join(sharedFolder(t), "gate")
			s := rig.Sh("until [ -e " + gate + " ]; do sleep 0.02; done; printf honest; exit 7")
			s.Retries = 2
			id := a.job(1)
			if err := a.Submit(context.Background(), id, s); err != nil {
				t.Fatal(err)
			}
			rig.Await(t, "the answer to the keeper's word", func() bool { return rogue.answer() != 0 })
			if got := rogue.answer(); got != c.answer {
				t.Errorf("the origin answers %d, want %d", got, c.answer)
			}
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			var end *grid.Result
			rig.Await(t, "the end", func() bool {
				a.Read(context.Background(), func(n *node.Node, _ grid.Time) {
					if x := n.Tasks(id, nil); len(x) > 0 && x[0].State == grid.Ended {
						end = x[0].Result
					}
				})
				return end != nil
			})
			if got := string(end.Stdout.Inline); !strings.Contains(got, c.want) {
				t.Errorf("%q is shown with %d, want %q", got, end.Exit, c.want)
			}
		})
	}
}
