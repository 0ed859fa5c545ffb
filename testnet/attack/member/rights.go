package member

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"skep/internal/hostile"
	v1 "skep/node/api/v1"
	"skep/node/listing"
	"skep/node/p2p/wire"
)

// execs asks the node to run commands beside a task of its own, as only the node where the job was submitted may: by
// the stream between nodes, with every attempt that the task may have, and by the API.
func execs(ctx context.Context, s *siege) error {
	for ctx.Err() == nil {
		s.n++
		id := attempt(s.Job, 0)
		id.Epoch, id.N = 1+uint32(s.n/8%4), 1+uint32(s.n%8)
		st, err := s.m.Stream(ctx, s.Target.Node, hostile.Exec)
		if err != nil {
			return err
		}
		st.SetDeadline(time.Now().Add(2 * time.Second))
		st.Write(wire.AppendAttempt(nil, id))
		var status [1]byte
		if _, err := io.ReadFull(st, status[:]); err == nil && status[0] == wire.StatusOK {
			s.tally.Taken++
		}
		st.Reset()
		s.tally.Sent++
		if err := s.execOverAPI(ctx); err != nil {
			return err
		}
	}
	return nil
}

// execOverAPI asks as a client of another node does.
func (s *siege) execOverAPI(ctx context.Context) error {
	st, err := s.m.Stream(ctx, s.Target.Node, hostile.APIStream)
	if err != nil {
		return err
	}
	defer st.Reset()
	st.SetDeadline(time.Now().Add(2 * time.Second))
	fmt.Fprintf(st, "POST /v1/jobs/%s/exec?task=0 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n",
		s.Job, v1.ExecProtocol)
	answer := make([]byte, 64)
	n, _ := io.ReadFull(st, answer)
	if text := string(answer[:n]); strings.HasPrefix(text, fmt.Sprintf("HTTP/1.1 %d", http.StatusSwitchingProtocols)) ||
		strings.HasPrefix(text, "HTTP/1.1 2") {
		s.tally.Taken++
	}
	s.tally.Sent++
	return nil
}

// jobLists asks for as many jobs as may be asked for, on as many streams as it gets.
func jobLists(ctx context.Context, s *siege) error {
	request, err := wire.JobQueryRequest(&listing.Query{Limit: listing.MaxRows})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		st, err := s.m.Stream(ctx, s.Target.Node, hostile.Jobs)
		if err != nil {
			return err
		}
		st.SetDeadline(time.Now().Add(2 * time.Second))
		st.Write(request)
		if s.n++; s.n%4 == 0 { // its answer is never read
			defer st.Reset()
		} else {
			io.Copy(io.Discard, st)
			st.Reset()
		}
		s.tally.Sent++
		if s.n%512 == 0 {
			return errOver
		}
	}
	return nil
}
