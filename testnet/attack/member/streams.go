package member

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"skep/grid"
	"skep/internal/hostile"
)

// gossips sends what a function makes over gossipsub, until an error.
func gossips(ctx context.Context, s *siege, make func() (*hostile.RPC, error)) error {
	g, err := s.m.Gossip(ctx, s.Target.Node)
	if err != nil {
		return err
	}
	defer g.Stream().Reset()
	for ctx.Err() == nil {
		rpc, err := make()
		if err == nil {
			g.Stream().SetDeadline(time.Now().Add(patience))
			err = g.Send(rpc)
		}
		if err != nil {
			return err
		}
		s.tally.Sent++
	}
	return nil
}

func topics(ctx context.Context, s *siege) error {
	return gossips(ctx, s, func() (*hostile.RPC, error) {
		r := new(hostile.RPC)
		for range 100 {
			s.n++
			name := fmt.Sprintf("skep/%x-%d-%s", rand.Uint64(), s.n, strings.Repeat("t", 200))
			r.Subscribe, r.Graft = append(r.Subscribe, name), append(r.Graft, name)
		}
		return r, nil
	})
}

func announcements(ctx context.Context, s *siege) error {
	data := make([]byte, 15<<10)
	return gossips(ctx, s, func() (*hostile.RPC, error) {
		for i := range data {
			data[i] = byte(rand.Uint32())
		}
		a, err := s.m.Announcement(data)
		return &hostile.RPC{Subscribe: []string{s.m.Topic()}, Publish: []*hostile.Published{a}}, err
	})
}

func ihave(ctx context.Context, s *siege) error {
	return gossips(ctx, s, func() (*hostile.RPC, error) {
		var ids []string
		for range 500 {
			s.n++
			ids = append(ids, fmt.Sprintf("%032x-%d", rand.Uint64(), s.n))
		}
		return &hostile.RPC{IHave: map[string][]string{s.m.Topic(): ids}, IDontWant: ids}, nil
	})
}

// mostIdentities bounds how many one attacker is at a time.
const mostIdentities = 64

func identities(ctx context.Context, s *siege) error {
	var all []*hostile.Member
	defer func() {
		for _, m := range all {
			m.Close()
		}
	}()
	for ctx.Err() == nil {
		m, err := hostile.Join(ctx, hostile.Options{Token: s.Token})
		if err != nil {
			return err
		}
		if all = append(all, m); len(all) > mostIdentities {
			all[0].Close()
			all = all[1:]
		}
		s.tally.Sent++
		if talk, err := m.Control(ctx, m.Node()); err == nil {
			talk.Say(&grid.Message{Kind: grid.KindPoll, Poll: grid.Poll{ID: 1, Class: "x", Speed: 1, Cores: 1000}})
		}
		for range 8 {
			if st, err := m.Stream(ctx, m.Node(), hostile.APIStream); err == nil {
				io.WriteString(st, "GET /v1/jobs HTTP/1.1\r\nHost: x\r\n")
			}
		}
	}
	return nil
}

// slowStreams opens streams of each kind and sends a byte now and then.
func slowStreams(ctx context.Context, s *siege) error {
	type stream interface {
		io.Writer
		SetDeadline(time.Time) error
	}
	node := s.Target.Node
	kinds := []func(context.Context) (stream, error){
		func(ctx context.Context) (stream, error) { return s.m.Stream(ctx, node, hostile.Blob) },
		func(ctx context.Context) (stream, error) { return s.m.Stream(ctx, node, hostile.Output) },
		func(ctx context.Context) (stream, error) { return s.m.Stream(ctx, node, hostile.Stdin) },
		func(ctx context.Context) (stream, error) { return s.m.Stream(ctx, node, hostile.Exec) },
		func(ctx context.Context) (stream, error) { return s.m.Stream(ctx, node, hostile.Reach) },
		func(ctx context.Context) (stream, error) { return s.m.Stream(ctx, node, hostile.APIStream) },
		func(ctx context.Context) (stream, error) { return s.m.Stream(ctx, node, hostile.Control) },
	}
	var open []stream
	for ctx.Err() == nil {
		for _, kind := range kinds {
			step, stop := context.WithTimeout(ctx, time.Second)
			if st, err := kind(step); err == nil {
				open = append(open, st)
			}
			stop()
		}
		s.tally.Sent = max(s.tally.Sent, int64(len(open)))
		if len(open) > 2000 || len(open)%50 == 0 {
			for _, st := range open {
				st.SetDeadline(time.Now().Add(time.Millisecond))
				st.Write([]byte{1})
			}
		}
		if len(open) > 2000 {
			return errOver
		}
		if !s.m.Connected(s.Target.Node) {
			return io.ErrClosedPipe
		}
	}
	return nil
}

// api sends requests without an end to reading.
func api(ctx context.Context, s *siege) error {
	job := "/v1/jobs/" + s.Job.String()
	paths := []string{job, job + "/wait", job + "/tasks", job + "/explain", job + "/logs", "/v1/jobs", "/v1/jobs/aaaa",
		"/v1/token", "/metrics", "/" + strings.Repeat("p", 4000)}
	for ctx.Err() == nil {
		st, err := s.m.Stream(ctx, s.Target.Node, hostile.APIStream)
		if err != nil {
			return err
		}
		for i := range 200 {
			st.SetDeadline(time.Now().Add(2 * time.Second))
			method, body := "GET", ""
			if i%4 == 3 {
				method, body = "POST", strings.Repeat("{", 32<<10)
			}
			if _, err = fmt.Fprintf(st, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", method, paths[i%len(paths)],
				len(body), body); err != nil {
				break
			}
			s.tally.Sent++
		}
		st.Reset()
		if !s.m.Connected(s.Target.Node) {
			return io.ErrClosedPipe
		}
	}
	return nil
}

func frames(ctx context.Context, s *siege) error {
	for ctx.Err() == nil {
		b := make([]byte, 1+rand.IntN(64<<10))
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		s.n++
		b[0] = byte(s.n%uint64(grid.Kinds))<<3 | 2
		s.talk.SetDeadline(time.Now().Add(patience))
		if err := s.talk.Frame(b); err != nil {
			return err
		}
		s.tally.Sent++
	}
	return nil
}
