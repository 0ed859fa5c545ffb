package member

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"skep/grid"
	"skep/internal/hostile"
)

// Attack is one of the table.
type Attack struct {
	Name string
	What string // as the end of "a member could …"

	// Runs says that tasks of the member are to run in the open folder of an account, and none in the guarded one.
	Runs bool

	run func(ctx context.Context, s *siege) error // until the context ends, or the node cuts the member off
}

// Target is what is attacked.
type Target struct {
	Token string
	Node  grid.NodeID   // at which the token's first address is
	Nodes []grid.NodeID // others of the network
	Job   grid.JobID    // of the node's own, and running

	Accounts Accounts // zero: the node has none, since it is not of root
}

// Tally is what an attack came to.
type Tally struct {
	Sent int64 // messages, streams or identities
	// Taken is how often the member got what it must not get.
	Taken int64
	Cut   int64 // times that the node ended the connection
	Last  error // why, the last time
}

// siege is a member under way with an attack.
type siege struct {
	Target
	m     *hostile.Member
	talk  *hostile.Talk
	tally *Tally
	n     uint64
}

// patience bounds how long a node may leave a message unread, and pause is the time before a member that was cut off
// comes again, as somebody else.
const (
	patience = 30 * time.Second
	pause    = 200 * time.Millisecond
)

// Run attacks until the context ends. A member that is cut off comes again with a new identity.
func (a *Attack) Run(ctx context.Context, target Target) (t Tally) {
	for ctx.Err() == nil {
		if err := a.once(ctx, target, &t); err != nil && ctx.Err() == nil {
			t.Cut++
			t.Last = err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return t
}

func (a *Attack) once(ctx context.Context, target Target, t *Tally) error {
	s, ready := &siege{Target: target, tally: t}, make(chan struct{})
	begin := sync.OnceFunc(func() { close(ready) })
	defer begin()
	o := hostile.Options{Token: target.Token}
	if a.Runs {
		o.Hear = func(m *grid.Message) {
			if <-ready; s.talk != nil {
				s.grantLease(m)
			}
		}
	}
	var err error
	if s.m, err = hostile.Join(ctx, o); err != nil {
		return err
	}
	defer s.m.Close()
	if s.talk, err = s.m.Control(ctx, s.m.Node()); err != nil {
		return err
	}
	begin()
	done := context.AfterFunc(ctx, func() { s.talk.Close() })
	defer done()
	return a.run(ctx, s)
}

// say sends a message of the member.
func (s *siege) say(m *grid.Message) error {
	s.talk.SetDeadline(time.Now().Add(patience))
	err := s.talk.Say(m)
	if err == nil {
		s.tally.Sent++
	}
	return err
}

// job is a new job of the member's own.
func (s *siege) job() grid.JobID {
	s.n++
	id := grid.JobID{Origin: s.m.Self()}
	binary.BigEndian.PutUint64(id.Nonce[2:], s.n)
	return id
}

// stranger is the ID of no node.
func stranger() (n grid.NodeID) {
	for i := 0; i < len(n); i += 8 {
		binary.LittleEndian.PutUint64(n[i:], rand.Uint64())
	}
	return n
}

// attempt is of a task of a job.
func attempt(job grid.JobID, index uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: job, Index: index}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
}

// loop says what a function makes until an error.
func loop(make func(s *siege) (*grid.Message, error)) func(context.Context, *siege) error {
	return func(ctx context.Context, s *siege) error {
		for ctx.Err() == nil {
			m, err := make(s)
			if err == nil {
				err = s.say(m)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// errOver is why an attack begins again.
var errOver = errors.New("begun again")
