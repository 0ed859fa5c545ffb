package p2p

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"skep/grid"
	"skep/node"
)

// counts holds the driver's counters since its start, and the registry of these and of the node's own metrics.
type counts struct {
	registry                 *prometheus.Registry
	sent, received           [grid.Kinds]atomic.Uint64 // messages
	sentBytes, receivedBytes [grid.Kinds]atomic.Uint64
	fetches                  atomic.Uint64 // blobs that were not stored here

	mu      sync.Mutex
	dropped map[string]uint64
}

func (c *counts) init(d *Driver) {
	c.dropped = make(map[string]uint64)
	c.registry = prometheus.NewRegistry()
	c.registry.MustRegister(&collector{d}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
}

// drop counts something that was not handled. The reasons are few and fixed: never a peer's text.
func (c *counts) drop(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped[reason]++
}

func (c *counts) reasons() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := make(map[string]uint64, len(c.dropped))
	for r, n := range c.dropped {
		m[r] = n
	}
	return m
}

// collector makes metrics when they are collected.
type collector struct{ d *Driver }

var (
	descSent     = prometheus.NewDesc("skep_messages_sent_total", "Messages queued for peers.", []string{"kind"}, nil)
	descReceived = prometheus.NewDesc("skep_messages_received_total", "Messages taken from peers.", []string{"kind"}, nil)
	descOut      = prometheus.NewDesc("skep_message_sent_bytes_total", "Bytes of messages queued for peers.", []string{"kind"}, nil)
	descIn       = prometheus.NewDesc("skep_message_received_bytes_total", "Bytes of messages taken from peers.", []string{"kind"}, nil)
	descDropped  = prometheus.NewDesc("skep_dropped_total", "What was not dealt with, by reason.", []string{"layer", "reason"}, nil)
	descFetches  = prometheus.NewDesc("skep_blob_fetches_total", "Blobs fetched from peers.", nil, nil)
	descConns    = prometheus.NewDesc("skep_connected_peers", "Connected peers.", nil, nil)
	descBlobs    = prometheus.NewDesc("skep_blob_bytes", "Bytes of the blobs here.", nil, nil)
	descQueue    = prometheus.NewDesc("skep_loop_inputs", "Events that wait to be stepped.", nil, nil)

	descPlaced  = prometheus.NewDesc("skep_tasks_placed_total", "Tasks of own jobs placed.", []string{"where"}, nil)
	descCopies  = prometheus.NewDesc("skep_second_copies_total", "Second copies of own tasks begun.", nil, nil)
	descLost    = prometheus.NewDesc("skep_attempts_lost_total", "Attempts of own tasks that were lost.", nil, nil)
	descTasks   = prometheus.NewDesc("skep_attempts", "Attempts accepted here.", []string{"state"}, nil)
	descPending = prometheus.NewDesc("skep_tasks_pending", "Tasks of own jobs that look for a node.", nil, nil)
	descJobs    = prometheus.NewDesc("skep_jobs", "Jobs submitted here.", nil, nil)
	descBacklog = prometheus.NewDesc("skep_backlog_seconds", "Expected time until a task that came now would start.", nil, nil)
	descFreeCPU = prometheus.NewDesc("skep_free_cores", "Cores not given to tasks.", nil, nil)
	descFreeMem = prometheus.NewDesc("skep_free_memory_bytes", "Memory not given to tasks.", nil, nil)
	descView    = prometheus.NewDesc("skep_known_peers", "Nodes in the view.", nil, nil)
	descLambda  = prometheus.NewDesc("skep_allocation_lambda", "Lambda of the last allocation solved; 1/lambda is the load.", nil, nil)
	descSolves  = prometheus.NewDesc("skep_allocation_solves_total", "Allocations solved.", nil, nil)
)

// Describe sends nothing: the collector is unchecked.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics of the driver and of the node.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	n := &c.d.counts
	for k := range grid.Kinds {
		if k == 0 {
			continue
		}
		kind := grid.Kind(k).String()
		counter(descSent, n.sent[k].Load(), kind)
		counter(descReceived, n.received[k].Load(), kind)
		counter(descOut, n.sentBytes[k].Load(), kind)
		counter(descIn, n.receivedBytes[k].Load(), kind)
	}
	for reason, v := range n.reasons() {
		counter(descDropped, v, "driver", reason)
	}
	counter(descFetches, n.fetches.Load())
	gauge(descConns, float64(len(c.d.host.Network().Peers())))
	gauge(descBlobs, float64(c.d.blobs.Size()))
	gauge(descQueue, float64(len(c.d.loop.in)))
	if s, ok := c.stats(); ok {
		collectNode(&s, counter, gauge)
	}
}

// stats asks the node, for a second at most.
func (c *collector) stats() (s node.Stats, ok bool) {
	ctx, cancel := context.WithTimeout(c.d.ctx, time.Second)
	defer cancel()
	err := c.d.Read(ctx, func(n *node.Node, at grid.Time) {
		if n != nil {
			s, ok = n.Stats(at), true
		}
	})
	return s, ok && err == nil
}

func collectNode(s *node.Stats, counter func(*prometheus.Desc, uint64, ...string), gauge func(*prometheus.Desc, float64, ...string)) {
	counter(descDropped, s.Stale, "node", "stale")
	counter(descDropped, s.Full, "node", "full")
	counter(descPlaced, s.Moved, "elsewhere")
	counter(descPlaced, s.Local, "here")
	counter(descCopies, s.Backups)
	counter(descLost, s.Lost)
	gauge(descTasks, float64(s.Queued), "queued")
	gauge(descTasks, float64(s.Running), "running")
	gauge(descPending, float64(s.Pending))
	gauge(descJobs, float64(s.Jobs))
	gauge(descBacklog, s.Backlog.Seconds())
	gauge(descFreeCPU, float64(s.Free.CPU)/1000)
	gauge(descFreeMem, float64(s.Free.Memory))
	gauge(descView, float64(s.Peers))
	gauge(descLambda, s.Lambda)
	counter(descSolves, s.Solves)
}
