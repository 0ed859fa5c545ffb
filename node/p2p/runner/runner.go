package runner

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/exec/units"
	"skep/grid"
	"skep/node/p2p/blob"
	"skep/node/p2p/lifecycle"
	"skep/node/p2p/mesh"
	"skep/node/p2p/ports"
	"skep/node/p2p/ranks"
	"skep/node/p2p/throughput"
)

// Config is what a runner needs. All fields must be set but where they say otherwise.
type Config struct {
	Self     grid.NodeID
	Name     string         // of the node, for people
	DataDir  string         // absolute
	Capacity grid.Resources // what tasks may take; its memory also bounds a task that states no need

	MaxOutput  grid.Bytes // of each of stdout and stderr of a task
	MaxCollect grid.Bytes // of the output files of a task

	MaxCheckpoint grid.Bytes // of the files of a checkpoint; a larger one is not stored

	DiskLow grid.Bytes // free disk space below which the node takes no tasks

	Share map[string]float64 // part of the time that tasks of a class may run, "*" for any other; may be nil
	Boxes Boxes
	Units *units.Table // which counted resources and processors tasks have
	Network
	Secrets Secrets // not used before the first Start; nil = tasks with secrets are none here

	Log   *slog.Logger
	Blobs *blob.Store
	Loop  Loop
	Peers Peers        // not used before the first Start, Fetch or repair of a blob
	Drop  func(string) // counts what was not handled, by a reason of a fixed few
	Fatal func(error)  // called once if no task can be started any more, and the node has to be started again

	meter *throughput.Meter // set by Open
}

// Network is what carries what ranks of gangs say to each other.
type Network struct {
	Mesh  *mesh.Mesh     // carries packets; nil = ranks with a network of their own are no tasks here
	Ports *ports.Proxies // carries connections of gangs that name their ports; set with Mesh
}

// Loop is the driver's loop.
type Loop interface {
	Event(fill func(*grid.Event)) // steps an event; it may wait
	Wait()                        // returns when all events before have been stepped and saved
	Wake()                        // makes it call CheckDisk
}

// Peers are the other nodes.
type Peers interface {
	// Open opens a stream within a deadline of its own; with it a node that is not connected is dialled.
	Open(ctx context.Context, n grid.NodeID, protocol string) (network.Stream, error)
	Connected() []grid.NodeID
	IsConnected(n grid.NodeID) bool
	Dialable(n grid.NodeID) bool // it is not connected, and worth dialling
	Offend(n grid.NodeID, reason string, weight int)
}

// Runner runs attempts. Start, Stop, Fetch, RecordSaved and CheckDisk are called by one goroutine, the loop's, and do
// not block; the other methods are safe for concurrent use.
type Runner struct {
	cfg  Config
	ctx  context.Context  // until Close
	work *lifecycle.Group // fetches, and what serves outputs
	runs
	private bool
	dir     string // holds a folder for each attempt
	top     topFolder
	fetcher *fetcher
	disk    *diskMonitor
	pins    pins
	stopped stoppedOutput
	feeds   feeds
	lines   atomic.Pointer[lineFile] // read last; nil = none yet
	removal
	execs execs
	wait  sync.WaitGroup

	mu      sync.Mutex
	m       map[grid.AttemptID]*attempt
	folders uint64 // created so far
	closed  bool
}

// Open ends the processes of a former run, removes their folders, and returns a runner. Its work ends with ctx;
// Close must follow.
func Open(ctx context.Context, cfg Config) (*Runner, error) {
	cfg.meter = new(throughput.Meter)
	dir, processes, private, err := openBoxes(&cfg)
	if err != nil {
		return nil, err
	}
	away, err := cfg.Boxes.Engine.Open(cfg.Self, cfg.DataDir, cfg.Log)
	if err != nil {
		processes.Close()
		return nil, err
	}
	r := &Runner{cfg: cfg, work: lifecycle.New(ctx), runs: runs{processes, away}, private: private, dir: dir,
		pins: newPins(cfg.Blobs), m: make(map[grid.AttemptID]*attempt)}
	r.ctx = r.work.Context()
	if err := r.top.made(dir, processes.Boxed()); err != nil {
		processes.Close()
		return nil, err
	}
	r.removal = removal{hangs: processes.Hangs, remove: make(chan *attempt, 4096), ranks: ranks.Open(&ranks.Maker{
		Self: cfg.Self, Processes: processes, Mesh: cfg.Mesh, Ports: cfg.Ports, NoPackets: cfg.Boxes.NoTUN, Log: cfg.Log})}
	r.fetcher = newFetcher(&r.cfg, r.work)
	r.disk = newDiskMonitor(&r.cfg, r)
	r.logIsolation()
	r.wait.Go(r.removeFolders)
	r.work.Go(func() { r.disk.run(r.ctx) })
	return r, nil
}

// Close stops all tasks without reporting their ends: the node finds them lost when it starts again. Streams with
// peers must be closed before, or end with the context.
func (r *Runner) Close() {
	r.work.Cancel()
	r.work.Wait()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.processes.Close()
	if r.away != nil {
		r.away.Close() // what it runs goes on
	}
	close(r.remove)
	r.wait.Wait()
	r.ranks.Close()
	r.stopped.closeAll()
	process.Remove(r.dir)
}

// Isolation returns the isolation level of tasks here, and what is missing for a higher one.
func (r *Runner) Isolation() (grid.Isolation, []sandbox.Finding) {
	if level, known := r.cfg.Boxes.Engine.Isolation(); known {
		return level, nil
	}
	return r.processes.Isolation()
}

// GangNetwork says why ranks of gangs cannot have a network of their own here; nil = they can.
func (r *Runner) GangNetwork() error { return r.ranks.Missing() }

// GangPorts says why ranks of gangs cannot reach each other on ports here; nil = they can.
func (r *Runner) GangPorts() error { return r.ranks.MissingPorts() }

// Private reports that the node must take no tasks of others, since it cannot isolate them.
func (r *Runner) Private() bool { return r.private }

// CPU returns the CPU time of all tasks so far; false where the machine does not tell.
func (r *Runner) CPU() (time.Duration, bool) {
	if r.away != nil {
		return r.away.Used(), true
	}
	return r.processes.CPU()
}

// Fetched returns the number of blobs that were not here and were asked of peers.
func (r *Runner) Fetched() uint64 { return r.fetcher.fetched.Load() }

// RecordSaved updates the pins for a record that is now on disk, and drops an attempt whose record is deleted.
func (r *Runner) RecordSaved(rec *grid.Record) {
	if rec.Kind == grid.RecWork {
		r.workSaved(&rec.Work, rec.Delete)
		return
	}
	r.pins.noteRecord(rec)
}
