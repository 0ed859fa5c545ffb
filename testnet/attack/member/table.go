package member

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"skep/grid"
	"skep/internal/hostile"
)

// Table are all attacks.
var Table = []Attack{
	{Name: "guards", What: "have registers of 100,000 tasks kept",
		run: loop(func(s *siege) (*grid.Message, error) { return s.guard(grid.MaxCount, 0, nil) })},
	{Name: "guards-large", What: "have registers of large jobs kept",
		run: loop(func(s *siege) (*grid.Message, error) { return s.guard(1, 30<<10, nil) })},
	{Name: "guards-ended", What: "have results of many tasks kept", run: loop(func(s *siege) (*grid.Message, error) {
		return s.guard(grid.MaxCount, 0, s.finals())
	})},
	{Name: "guards-of-strangers", What: "have nodes dialled that are none",
		run: loop(func(s *siege) (*grid.Message, error) {
			m, err := s.guard(1, 0, nil)
			if err == nil {
				m.Register.Members = []grid.NodeID{s.m.Self(), s.Node, stranger(), stranger(), stranger()}
			}
			return m, err
		})},
	{Name: "votes", What: "have entries kept that come with votes", run: votes},
	{Name: "offers", What: "have many tasks kept that it will not take back",
		run: loop(func(s *siege) (*grid.Message, error) { return s.offer(0) })},
	{Name: "offers-large", What: "have large tasks kept",
		run: loop(func(s *siege) (*grid.Message, error) { return s.offer(30 << 10) })},
	{Name: "offers-redirected", What: "have the beats of tasks sent to members that are none",
		run: loop(func(s *siege) (*grid.Message, error) {
			m, err := s.offer(0)
			if err == nil {
				m.Offer.Members = []grid.NodeID{s.m.Self(), stranger(), stranger()}
			}
			return m, err
		})},
	{Name: "takeovers", What: "take jobs from their owners", run: loop(func(s *siege) (*grid.Message, error) {
		g := grid.RegisterMessage{Job: s.Job, Epoch: 2 + uint32(s.n%1000), Owner: s.m.Self(),
			Members: []grid.NodeID{s.Node, s.m.Self()}}
		if s.n++; s.n%2 == 0 {
			g.Job = s.job()
		}
		return &grid.Message{Kind: grid.KindTakeover, Register: g}, nil
	})},
	{Name: "answers", What: "answer what it was not asked", run: loop(func(s *siege) (*grid.Message, error) {
		kinds := []grid.Kind{grid.KindKeepaliveAck, grid.KindWriteAck, grid.KindVote, grid.KindState, grid.KindMiss,
			grid.KindAccept, grid.KindResultAck}
		s.n++
		id := attempt(s.Job, uint32(s.n))
		return &grid.Message{Kind: kinds[s.n%uint64(len(kinds))], Attempts: []grid.AttemptID{id},
			Register: grid.RegisterMessage{Job: s.Job, Seq: s.n, Answer: grid.RegisterOK, Epoch: 1},
			State:    grid.State{ID: s.n, Speed: 1}, Find: grid.Find{ID: s.n, Asker: s.Node}}, nil
	})},
	{Name: "promises", What: "become the owner of jobs that it does not keep",
		run: loop(func(s *siege) (*grid.Message, error) {
			kinds := []grid.Kind{grid.KindCampaign, grid.KindKeepalive}
			s.n++
			return &grid.Message{Kind: kinds[s.n%2], Register: grid.RegisterMessage{Job: s.Job, Epoch: 2, Seq: s.n, Count: 1,
				Sum: s.n}}, nil
		})},
	{Name: "questions", What: "ask about many attempts", run: loop(func(s *siege) (*grid.Message, error) {
		kinds := []grid.Kind{grid.KindAsk, grid.KindBeat, grid.KindStartLease, grid.KindDrop}
		s.n++
		ids := make([]grid.AttemptID, grid.MaxBeats)
		for i := range ids {
			ids[i] = attempt(s.job(), rand.Uint32()%grid.MaxCount)
		}
		return &grid.Message{Kind: kinds[s.n%4], Attempts: ids, Register: grid.RegisterMessage{Seq: s.n}}, nil
	})},
	{Name: "polls", What: "have rates of many classes kept", run: loop(func(s *siege) (*grid.Message, error) {
		s.n++
		p := grid.Poll{ID: s.n, Class: fmt.Sprintf("class-%d", s.n), Needs: grid.Resources{CPU: grid.CPU}, Speed: 1,
			Cores: 1000, Mine: s.n}
		for i := range grid.MaxRates {
			p.Rates = append(p.Rates, grid.Rate{Class: fmt.Sprintf("class-%020d-%02d", s.n, i), Alpha: 1, Mu: 1})
		}
		return &grid.Message{Kind: grid.KindPoll, Poll: p}, nil
	})},
	{Name: "searches", What: "have others search for what nobody has", run: loop(func(s *siege) (*grid.Message, error) {
		s.n++
		f := grid.Find{ID: s.n, Asker: s.m.Self(), Engine: grid.EngineProcess,
			Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU},
				Labels: []grid.LabelNeed{{Key: fmt.Sprintf("key-%d", s.n), Values: []string{"x"}}}}, Left: 32,
			Within: 10 * time.Second}
		return &grid.Message{Kind: grid.KindFind, Find: f}, nil
	})},
	{Name: "ghosts", What: "have nodes known that do not exist, and dialled",
		run: loop(func(s *siege) (*grid.Message, error) {
			var ads []*grid.Ad
			for range 8 {
				s.n++
				ad, err := hostile.Ghost(fmt.Sprintf("ghost-%d", s.n), fmt.Sprintf("/ip4/127.0.%d.%d/tcp/9", s.n>>8&255, s.n&255))
				if err != nil {
					return nil, err
				}
				ads = append(ads, ad)
			}
			return hostile.Digest(ads...), nil
		})},
	{Name: "topics", What: "have topics kept that it names", run: topics},
	{Name: "announcements", What: "have announcements kept and handed on", run: announcements},
	{Name: "promised-messages", What: "have messages asked for that do not exist", run: ihave},
	{Name: "identities", What: "fill the members' places", run: identities},
	{Name: "slow-streams", What: "hold streams open", run: slowStreams},
	{Name: "api", What: "ask the API for everything, and read nothing", run: api},
	{Name: "execs", What: "run commands beside a task of another node", run: execs},
	{Name: "accounts", What: "have tasks run as an account of the machine under the name of another's user", Runs: true,
		run: loop((*siege).accountOffer)},
	{Name: "job-lists", What: "ask for lists of jobs without end, and not read them", run: jobLists},
	{Name: "frames", What: "send frames of any bytes", run: frames},
}

// spec is a job of the member's own, signed, with so many bytes of text.
func (s *siege) spec(job grid.JobID, count uint32, size int) (*grid.JobSpec, error) {
	spec := &grid.JobSpec{Engine: grid.EngineProcess, Command: []string{"true"}, Count: count,
		Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}}
	if size > 0 {
		spec.Command = append(spec.Command, strings.Repeat("x", size))
		spec.Env = []grid.Var{{Name: "LARGE", Value: strings.Repeat("y", min(size, 30<<10))}}
	}
	return s.m.Spec(job, spec, "hostile")
}

func (s *siege) guard(count uint32, size int, finals []grid.Entry) (*grid.Message, error) {
	job := s.job()
	spec, err := s.spec(job, count, size)
	if err != nil {
		return nil, err
	}
	members := []grid.NodeID{s.m.Self(), s.Node}
	if len(s.Nodes) > 0 {
		members = append(members, s.Nodes[0])
	}
	return &grid.Message{Kind: grid.KindWrite, Register: grid.RegisterMessage{Job: job, Epoch: 1, Seq: s.n,
		Owner: s.m.Self(), Spec: spec, Members: members, Entries: finals}}, nil
}

// votes has the node keep registers with members that do not answer, and so campaign for the next epoch. Then it votes,
// page by page.
func votes(ctx context.Context, s *siege) error {
	const registers, pages = 4, 4000
	var jobs []grid.JobID
	for range registers {
		m, err := s.guard(grid.MaxCount, 0, nil)
		if err == nil {
			m.Register.Members = []grid.NodeID{s.m.Self(), s.Node, stranger()}
			err = s.say(m)
		}
		if err != nil {
			return err
		}
		jobs = append(jobs, m.Register.Job)
	}
	for ctx.Err() == nil {
		for page := range uint32(pages) {
			entries := s.finals()
			for i := range entries {
				entries[i].Index += page * uint32(len(entries))
			}
			for _, job := range jobs {
				for epoch := uint32(2); epoch < 4; epoch++ {
					if err := s.say(&grid.Message{Kind: grid.KindVote, Register: grid.RegisterMessage{Job: job, Epoch: epoch,
						Seq:    uint64(page),
						Answer: grid.RegisterOK, Next: page + 1, More: true, Entries: entries}}); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// finals are results with as much output as may travel in them.
func (s *siege) finals() (all []grid.Entry) {
	output := grid.Output{Size: grid.MaxInline, Inline: []byte(strings.Repeat("z", int(grid.MaxInline)))}
	for i := range uint32(24) {
		all = append(all, grid.Entry{Index: i, Epoch: 1, Attempt: grid.Attempt{Epoch: 1, N: 1}, Worker: s.m.Self(),
			Result: &grid.Result{Cause: grid.Exited, Stdout: output, Stderr: output}, Placed: 1, Began: 1, Done: 1})
	}
	return all
}

func (s *siege) offer(size int) (*grid.Message, error) {
	job := s.job()
	spec, err := s.spec(job, 1, size)
	if err != nil {
		return nil, err
	}
	return &grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{ID: attempt(job, 0), Spec: spec,
		Class: fmt.Sprintf("class-%d", s.n%1000), Lease: time.Hour}}, nil
}
