package api

import (
	"context"
	"time"

	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
)

// statsTime bounds reading the node's counts.
const statsTime = 5 * time.Second

func (s *Server) stats(ctx context.Context) (st node.Stats, err error) {
	ctx, cancel := context.WithTimeout(ctx, statsTime)
	defer cancel()
	err = s.b.Read(ctx, func(v *node.Node, now gridTime) { st = v.Stats(now) })
	return st, err
}

func (s *Server) getStats(ctx context.Context, _ *struct{}) (*v1.Stats, error) {
	st, err := s.stats(ctx)
	if err != nil {
		return nil, err
	}
	dropped := map[string]uint64{"stale": st.Stale, "full": st.Full}
	for why, n := range s.b.Dropped() {
		dropped[why] += n
	}
	return &v1.Stats{
		Sent: byKind(&st.Sent), Received: byKind(&st.Received), Dropped: dropped,
		Moved: st.Moved, Local: st.Local, Lost: st.Lost, Copies: st.Backups, Queued: st.Queued, Running: st.Running,
		Backlog: st.Backlog.Seconds(), Jobs: st.Jobs, Pending: st.Pending, Peers: st.Peers, Lambda: st.Lambda,
		Solves: st.Solves,
	}, nil
}

func byKind(counts *[grid.Kinds]uint64) map[string]uint64 {
	m := make(map[string]uint64, len(counts))
	for k := 1; k < len(counts); k++ {
		m[grid.Kind(k).String()] = counts[k]
	}
	return m
}
