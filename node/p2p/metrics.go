package p2p

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"skep/grid"
	"skep/node"
	"skep/node/coordinator/retention"
)

// drops counts what was not handled, by reason.
type drops struct {
	mu sync.Mutex
	m  map[string]uint64
}

// add counts something that was not handled. The reasons are few and fixed: never a peer's text.
func (c *drops) add(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = make(map[string]uint64)
	}
	c.m[reason]++
}

func (c *drops) byReason() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := make(map[string]uint64, len(c.m))
	maps.Copy(m, c.m)
	return m
}

// newRegistry returns the registry of the driver's and the node's metrics.
func newRegistry(d *Driver) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(&collector{d}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// collector makes metrics when they are collected.
type collector struct{ d *Driver }

var (
	descSent     = prometheus.NewDesc("skep_messages_sent_total", "Messages queued for peers.", []string{"kind"}, nil)
	descReceived = prometheus.NewDesc("skep_messages_received_total", "Messages taken from peers.", []string{"kind"}, nil)
	descOut      = prometheus.NewDesc("skep_message_sent_bytes_total", "Bytes of messages queued for peers.",
		[]string{"kind"}, nil)
	descIn = prometheus.NewDesc("skep_message_received_bytes_total", "Bytes of messages taken from peers.",
		[]string{"kind"}, nil)
	descDropped = prometheus.NewDesc("skep_dropped_total", "What was not dealt with, by reason.",
		[]string{"layer", "reason"}, nil)
	descFetches = prometheus.NewDesc("skep_blob_fetches_total", "Blobs fetched from peers.", nil, nil)
	descConns   = prometheus.NewDesc("skep_connected_peers", "Connected peers.", nil, nil)
	descBlobs   = prometheus.NewDesc("skep_blob_bytes", "Bytes of the blobs here.", nil, nil)
	descDamaged = prometheus.NewDesc("skep_store_damaged_entries", "Entries of the database found damaged at the start.",
		[]string{"became"}, nil)
	descQueue = prometheus.NewDesc("skep_loop_inputs", "Events that wait to be stepped.", nil, nil)

	descPlaced  = prometheus.NewDesc("skep_tasks_placed_total", "Tasks of own jobs placed.", []string{"where"}, nil)
	descCopies  = prometheus.NewDesc("skep_second_copies_total", "Second copies of own tasks begun.", nil, nil)
	descLost    = prometheus.NewDesc("skep_attempts_lost_total", "Attempts of own tasks that were lost.", nil, nil)
	descRetried = prometheus.NewDesc("skep_failures_retried_total",
		"Recorded failures of own tasks after which these are run again.", nil, nil)
	descEnded = prometheus.NewDesc("skep_tasks_ended_total", "Tasks of own jobs that have ended.", []string{"how"}, nil)
	descBids  = prometheus.NewDesc("skep_bids_ended_total", "Bids of the tasks of own jobs that have ended.",
		[]string{"in_time"}, nil)
	descWeighted = prometheus.NewDesc("skep_weighted_completion_seconds_total",
		"Bid times the time from the submission to the end, of tasks of own jobs with exit 0.", nil, nil)
	descValue = prometheus.NewDesc("skep_value_seconds_total",
		"Bid times what the result was worth when it came, 0 to 1, times its run time, of tasks of own jobs with exit 0.",
		nil, nil)
	descSuspended = prometheus.NewDesc("skep_suspensions_total", "Times that an attempt here was suspended.", nil, nil)
	descMoves     = prometheus.NewDesc("skep_moves_total",
		"Started tasks given up to go on at another node: of own jobs, anywhere; and attempts here.", []string{"of"}, nil)

	descTasks   = prometheus.NewDesc("skep_attempts", "Attempts accepted here.", []string{"state"}, nil)
	descPending = prometheus.NewDesc("skep_tasks_pending", "Tasks of own jobs that look for a node.", nil, nil)
	descJobs    = prometheus.NewDesc("skep_jobs", "Jobs submitted here.", nil, nil)
	descKept    = prometheus.NewDesc("skep_jobs_kept", "Jobs here that are over.", nil, nil)
	descHeld    = prometheus.NewDesc("skep_kept_bytes",
		"Bytes of the files that only jobs hold which are over; where keep is set.", nil, nil)
	descLetGo = prometheus.NewDesc("skep_jobs_let_go_total",
		"Jobs that were over and are not kept any more, by what they had to give way to.", []string{"bound"}, nil)
	descBacklog = prometheus.NewDesc("skep_backlog_seconds", "Expected time until a task that came now would start.", nil,
		nil)
	descFreeCPU   = prometheus.NewDesc("skep_free_cores", "Cores not given to tasks.", nil, nil)
	descFreeMem   = prometheus.NewDesc("skep_free_memory_bytes", "Memory not given to tasks.", nil, nil)
	descUnits     = prometheus.NewDesc("skep_resource_units", "Units of counted resources.", []string{"resource"}, nil)
	descFreeUnits = prometheus.NewDesc("skep_free_resource_units", "Units of counted resources not given to tasks.",
		[]string{"resource"}, nil)
	descView   = prometheus.NewDesc("skep_known_peers", "Nodes in the view.", nil, nil)
	descLambda = prometheus.NewDesc("skep_allocation_lambda",
		"Lambda of the last allocation solved; 1/lambda is the load.", nil, nil)
	descSolves = prometheus.NewDesc("skep_allocation_solves_total", "Allocations solved.", nil, nil)
)

// Describe sends nothing: the collector is unchecked.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics of the driver and of the node.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	n := c.d.transport.Counts()
	for k := range grid.Kinds {
		if k == 0 {
			continue
		}
		kind := grid.Kind(k).String()
		counter(descSent, float64(n.Sent[k].Load()), kind)
		counter(descReceived, float64(n.Received[k].Load()), kind)
		counter(descOut, float64(n.SentBytes[k].Load()), kind)
		counter(descIn, float64(n.ReceivedBytes[k].Load()), kind)
	}
	for reason, v := range c.d.drops.byReason() {
		counter(descDropped, float64(v), "driver", reason)
	}
	counter(descFetches, float64(c.d.runner.Fetched()))
	gauge(descConns, float64(len(c.d.transport.Peers())))
	gauge(descBlobs, float64(c.d.blobs.Size()))
	found := c.d.store.Found()
	gauge(descDamaged, float64(found.Corrected), "corrected")
	gauge(descDamaged, float64(found.Dropped), "learned_anew")
	gauge(descQueue, float64(c.d.inbox.Len()))
	if s, kept, ok := c.stats(); ok {
		collectNode(&s, counter, gauge)
		collectKept(&kept, counter, gauge)
	}
}

func collectKept(k *retention.Counts, counter, gauge func(*prometheus.Desc, float64, ...string)) {
	gauge(descKept, float64(k.Jobs))
	gauge(descHeld, float64(k.Bytes))
	for why, n := range k.Gone {
		if name := retention.Why(why).String(); name != "" {
			counter(descLetGo, float64(n), name)
		}
	}
}

// stats asks the node, for a second at most.
func (c *collector) stats() (s node.Stats, kept retention.Counts, ok bool) {
	ctx, cancel := context.WithTimeout(c.d.work.Context(), time.Second)
	defer cancel()
	err := c.d.Read(ctx, func(n *node.Node, at grid.Time) {
		if n != nil {
			s, kept, ok = n.Stats(at), n.Retained(), true
		}
	})
	return s, kept, ok && err == nil
}

func collectNode(s *node.Stats, counter, gauge func(*prometheus.Desc, float64, ...string)) {
	counter(descDropped, float64(s.Stale), "node", "stale")
	counter(descDropped, float64(s.Full), "node", "full")
	counter(descPlaced, float64(s.Moved), "elsewhere")
	counter(descPlaced, float64(s.Local), "here")
	counter(descCopies, float64(s.Backups))
	counter(descLost, float64(s.Lost))
	counter(descRetried, float64(s.Retried))
	counter(descEnded, float64(s.Good), "good")
	counter(descEnded, float64(s.Missed), "missed")
	counter(descEnded, float64(s.Other), "other")
	counter(descBids, s.InTime, "yes")
	counter(descBids, s.Late, "no")
	counter(descWeighted, s.Weighted)
	counter(descValue, s.Value)
	counter(descSuspended, float64(s.Suspensions))
	counter(descMoves, float64(s.Migrated), "own_jobs")
	counter(descMoves, float64(s.Vacated), "attempts_here")
	gauge(descTasks, float64(s.Queued), "queued")
	gauge(descTasks, float64(s.Running), "running")
	gauge(descPending, float64(s.Pending))
	gauge(descJobs, float64(s.Jobs))
	gauge(descBacklog, s.Backlog.Seconds())
	gauge(descFreeCPU, float64(s.Free.CPU)/1000)
	gauge(descFreeMem, float64(s.Free.Memory))
	for kind, n := range s.Capacity.Counts.All() {
		gauge(descUnits, float64(n), kind)
		gauge(descFreeUnits, float64(s.Free.Counts.Of(kind)), kind)
	}
	gauge(descView, float64(s.Peers))
	gauge(descLambda, s.Lambda)
	counter(descSolves, float64(s.Solves))
}

// Registry returns the node's metrics.
func (d *Driver) Registry() *prometheus.Registry { return d.registry }

// Dropped returns the number of messages, streams and ads dropped since start, by reason.
func (d *Driver) Dropped() map[string]uint64 { return d.drops.byReason() }
