package api

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"skep/grid"
	"skep/node"
	"skep/node/api/v1"
)

// statsTime bounds waiting for the node's counts.
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
	dropped := map[string]uint64{"stale": st.Stale}
	for why, n := range s.b.Dropped() {
		dropped[why] += n
	}
	return &v1.Stats{
		Sent: byKind(&st.Sent), Received: byKind(&st.Received), Dropped: dropped,
		Moved: st.Moved, Local: st.Local, Lost: st.Lost, Queued: st.Queued, Running: st.Running,
		Backlog: st.Backlog.Seconds(), Jobs: st.Jobs, Pending: st.Pending, Peers: st.Peers, Lambda: st.Lambda, Solves: st.Solves,
	}, nil
}

func byKind(counts *[grid.Kinds]uint64) map[string]uint64 {
	m := make(map[string]uint64, len(counts))
	for k := 1; k < len(counts); k++ {
		m[grid.Kind(k).String()] = counts[k]
	}
	return m
}

// gather joins what the driver counts with the node's own counts.
type gather struct{ s *Server }

// Gather implements prometheus.Gatherer.
func (g gather) Gather() ([]*dto.MetricFamily, error) {
	own := prometheus.NewRegistry()
	if err := own.Register(g); err != nil {
		return nil, err
	}
	return prometheus.Gatherers{g.s.b.Registry(), own}.Gather()
}

// Describe implements prometheus.Collector; what there is depends on the node.
func (g gather) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (g gather) Collect(ch chan<- prometheus.Metric) {
	st, err := g.s.stats(context.Background())
	if err != nil {
		ch <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
		return
	}
	one := func(name, help string, t prometheus.ValueType, v float64) {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), t, v)
	}
	by := func(name, help, label string, value string, v uint64) {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, []string{label}, nil), prometheus.CounterValue, float64(v), value)
	}
	for k := 1; k < grid.Kinds; k++ {
		by("skep_messages_sent_total", "Messages sent, by kind.", "kind", grid.Kind(k).String(), st.Sent[k])
		by("skep_messages_received_total", "Messages received, by kind.", "kind", grid.Kind(k).String(), st.Received[k])
	}
	one("skep_messages_stale_total", "Messages about attempts that are not live, or that nobody asked for.", prometheus.CounterValue, float64(st.Stale))
	by("skep_tasks_placed_total", "Tasks placed, here or elsewhere.", "where", "elsewhere", st.Moved)
	by("skep_tasks_placed_total", "Tasks placed, here or elsewhere.", "where", "here", st.Local)
	one("skep_attempts_lost_total", "Attempts lost.", prometheus.CounterValue, float64(st.Lost))
	one("skep_allocations_solved_total", "Allocation programmes solved.", prometheus.CounterValue, float64(st.Solves))
	one("skep_tasks_queued", "Attempts accepted here and not started.", prometheus.GaugeValue, float64(st.Queued))
	one("skep_tasks_running", "Attempts that run here.", prometheus.GaugeValue, float64(st.Running))
	one("skep_tasks_pending", "Tasks submitted here that look for a node.", prometheus.GaugeValue, float64(st.Pending))
	one("skep_jobs", "Jobs submitted here and remembered.", prometheus.GaugeValue, float64(st.Jobs))
	one("skep_peers", "Nodes in the view.", prometheus.GaugeValue, float64(st.Peers))
	one("skep_backlog_seconds", "Expected time until a task that came now would start.", prometheus.GaugeValue, st.Backlog.Seconds())
	one("skep_free_cpus", "Cores not taken.", prometheus.GaugeValue, float64(st.Free.CPU)/1000)
	one("skep_free_memory_bytes", "Memory not taken.", prometheus.GaugeValue, float64(st.Free.Memory))
	one("skep_allocation_lambda", "Of the last allocation solved; 1/lambda is the load.", prometheus.GaugeValue, st.Lambda)
}
