package node

import (
	"fmt"
	"slices"

	"skep/balance"
	"skep/discovery"
	"skep/gossip"
	"skep/grid"
	"skep/node/deposit"
	"skep/node/quota"
	"skep/node/rates"
	"skep/node/replication"
	"skep/node/reputation"
	"skep/node/worker"
	"skep/sparse"
)

// Node is one member of the grid. Its methods are called from one goroutine.
type Node struct {
	cfg  settings
	wall grid.Wall
	rng  *grid.Rand

	gossip       *gossip.Gossip
	worker       *worker.Worker
	discovery    *discovery.Discovery
	rates        *rates.Estimator
	policies     policySet
	peers        peerset
	records      reputation.Records
	failures     reputation.FailureLog
	site         *balance.Site // this node's
	availability availability
	autoClass    *autoClass   // nil = the class is configured
	labels       []grid.Label // as advertised

	jobs             sparse.Map[grid.JobID, *job] // except packed ones
	jobQueue         jobQueue                     // jobs with untried tasks
	lastTurn         uint64                       // last turn given to a queued job
	awaitingMajority []*job                       // something of them waits for a majority of their registers
	retries          retryQueue                   // tasks to be placed again
	waiting          waitingTasks
	live             sparse.Map[uint64, *liveTask]
	lastHandle       uint64 // last handle given to a live task
	dialled          []dialled
	repeated         repeatedResults
	inFlight         int     // tasks being polled for or offered
	archive          archive // finished jobs, oldest end first
	packing          []*job  // finished jobs to be packed after this step

	replicas                 *replication.Replicas
	pending                  pendingSubmissions
	grace                    []graceEntry // taken over by this node and in takeover grace, oldest first
	closing                  []*job       // all their tasks have ended; the members are told soon
	takenOver                []grid.JobID // jobs taken over in this step
	barriers                 cancelBarriers
	deposits                 deposit.Store
	bulkEnds                 bulkEnds
	ledger                   quota.Ledger // of what is stored for others
	replicaWake, pendingWake bool         // a TimerRegister is pending: for registers; for pending submissions
	backups                  backupJobs
	ownerCache               replication.OwnerCache
	strayEntries             map[grid.JobID][]grid.EntryRecord // entries whose register has not come yet
	restoredBackups          map[grid.TaskID]grid.BackupRecord // during restore: backup attempts that may live

	addrs           []string
	ads             uint64    // own ads made in this boot
	lastAd, started grid.Time // time of the last ad; of the start
	adWake          bool      // a TimerAd is pending
	lowDisk         bool      // the disk is nearly full
	delivered       int       // number of sends in the effects that deliverLocal has seen
	stats           Counts
	scratch         *Scratch
}

var oneCore = grid.Resources{CPU: grid.CPU}

// New makes a node. Records of an earlier run follow by Restore, then EvStart.
func New(cfg Config, wall grid.Wall) (*Node, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	n := &Node{wall: wall, rng: grid.NewRand(cfg.Seed, 1), scratch: cfg.Scratch, availability: availability{idleShare: 1, upShare: 1}}
	if n.scratch == nil {
		n.scratch = new(Scratch)
	}
	n.cfg = cfg.settings(n.scratch)
	n.replicas = replication.NewReplicas(replication.Config{Self: cfg.Self, Boot: cfg.Boot, Lease: n.cfg.Lease, Contacts: contacts{n}}, wall, n.rng)
	n.deposits = deposit.New(deposit.Config{Self: cfg.Self, Quota: n.cfg.Lend, Limit: n.cfg.Copies,
		Confirm: n.cfg.Confirm, Retry: n.cfg.Lease / 3, ResultBytes: quota.ResultBytes})
	n.jobQueue.Track((*job).setQueueIndex)
	n.retries.Track((*liveTask).setQueueIndex)
	n.barriers.jobs.Track((*job).setBarrierIndex)
	n.discovery = discovery.New(cfg.Self, &n.cfg.Discovery, grid.NewRand(cfg.Seed, 3))
	n.worker = worker.New(worker.Config{Self: cfg.Self, Boot: cfg.Boot, Capacity: cfg.Capacity, Lease: n.cfg.Lease, Overdue: n.cfg.Overdue,
		Private: cfg.Private, Whole: !n.cfg.Balance.Rest, Bounds: cfg.Bounds, RunTime: n.runTime, Contacts: contacts{n}, Ledger: &n.ledger})
	n.rates = rates.New(rates.Config{Given: cfg.Given, Speed: cfg.Speed, Memory: cfg.Memory, Scratch: &n.scratch.rating})
	n.gossip = gossip.New(cfg.Self, &n.cfg.Gossip, grid.NewRand(cfg.Seed, 2))
	if n.labels, n.autoClass = cfg.Labels, newAutoClass(cfg.Labels); n.autoClass != nil {
		n.labels = n.autoClass.labels
	}
	n.site = siteOf(n.labels, nil)
	if _, err := n.policy(cfg.Policy); err != nil {
		return nil, err
	}
	return n, nil
}

// Restore takes a record saved by an earlier run. All records come before EvStart, in any order.
func (n *Node) Restore(r *grid.Record) {
	switch r.Kind {
	case grid.RecWork:
		n.worker.Restore(&r.Work, n.membersVerified(r.Work.ID.Task.Job, r.Work.Owner))
	case grid.RecRegister:
		n.restoreReplica(&r.Register)
	case grid.RecEntry:
		n.restoreEntry(&r.Entry)
	case grid.RecTombstone:
		n.replicas.RestoreTombstone(&r.Tombstone)
	case grid.RecClass:
		n.rates.Restore(&r.Class)
	default:
		panic(fmt.Sprintf("node: record of kind %d was decoded but is not known", r.Kind))
	}
}

// Step feeds one event to the node and appends what it wants done to fx. It never blocks, and the same
// state, time and event always give the same state and effects.
func (n *Node) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	fx.Begin()
	n.delivered, n.bulkEnds.left = len(fx.Sends), bulkEndBatch
	n.worker.Advance(now)
	firstAnnounce := len(fx.Announces)
	switch ev.Kind {
	case grid.EvStart:
		n.start(now, fx)
	case grid.EvMessage:
		n.handleMessage(now, ev.Peer, ev.Msg, fx)
	case grid.EvAnnounce:
		n.handleAnnouncement(now, ev.Peer, ev.Msg, fx)
	case grid.EvWake:
		n.handleTimer(now, ev.Timer, fx)
	case grid.EvPeerUp:
		n.peerUp(now, ev, fx)
	case grid.EvPeerDown:
		n.peerDown(now, ev.Peer, fx)
	case grid.EvSubmit:
		n.submit(now, ev, fx)
	case grid.EvCancel:
		n.cancelJob(now, ev, fx)
	case grid.EvStarted:
	case grid.EvEnded:
		n.worker.Ended(now, ev.Attempt, ev.Result, fx)
	case grid.EvFetched:
		n.fetched(now, ev, fx)
	case grid.EvDisk:
		n.setLowDisk(now, ev.Low, fx)
	case grid.EvAvailable:
		n.setAvailability(now, ev.Left, ev.Up, fx)
	case grid.EvAddrs:
		n.addrs = slices.Clone(ev.Addrs)
		n.adChanged(now, fx)
	case grid.EvLate:
		n.worker.StartedTooLate(now, ev.Attempt, fx)
	case grid.EvLeave, grid.EvDrain, grid.EvUndrain:
		n.handleDrain(now, ev, fx)
	}
	n.settle(now, fx)
	for n.placeNext(now, fx) {
		n.deliverLocal(now, fx)
	}
	for n.startBackups(now, fx) {
		n.deliverLocal(now, fx)
	}
	n.worker.RequestOwnLeases(now, fx)
	n.settle(now, fx)
	n.worker.SetTimers(now, fx)
	n.replicas.SendWrites(now, fx)
	n.announceTakeovers(fx)
	n.packFinished()
	sent := fx.Sent()
	for i := range sent {
		n.sign(&sent[i].Msg)
	}
	for i := firstAnnounce; i < len(fx.Announces); i++ {
		n.sign(&fx.Announces[i])
	}
}

// sign counts a message, and adds this node's ad to its own searches and calls, so that whoever is found can answer.
func (n *Node) sign(m *grid.Message) {
	n.stats.Sent[m.Kind]++
	if (m.Kind == grid.KindFind || m.Kind == grid.KindCall) && m.Find.Asker == n.cfg.Self && n.gossip.Ad() != nil {
		m.Digest = append(m.Digest[:0], grid.AdEntry{Ad: n.gossip.Ad()})
	}
}
