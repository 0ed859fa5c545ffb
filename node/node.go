package node

import (
	"fmt"

	"skep/discovery"
	"skep/gossip"
	"skep/grid"
	"skep/node/deposit"
	"skep/node/membership"
	"skep/node/policies"
	"skep/node/profile"
	"skep/node/quota"
	"skep/node/rates"
	"skep/node/replication"
	"skep/node/reputation"
	"skep/node/worker"
	"skep/sparse"
)

// Node is one member of the grid. Its methods are called from one goroutine.
type Node struct {
	*parts
	coordinator

	submissions *membership.Submissions // their members are not chosen yet
	delivered   int                     // number of sends in the effects that deliverLocal has seen
}

// parts are what a node consists of besides its jobs.
type parts struct {
	cfg     settings
	wall    grid.Wall
	rng     *grid.Rand
	scratch *Scratch
	stats   Counts

	gossip    *gossip.Gossip
	worker    *worker.Worker
	discovery *discovery.Discovery
	rates     *rates.Estimator
	policies  policies.Set
	peers     peerset
	records   reputation.Records
	failures  reputation.FailureLog
	replicas  *replication.Replicas
	deposits  deposit.Store
	profile   profile.Profile
}

// coordinator is the jobs that this node owns, and those of whose registers it is a member.
type coordinator struct {
	*parts

	jobs     sparse.Map[grid.JobID, *job] // except packed ones
	queue    jobQueue
	live     liveTasks
	dialled  []dialled
	repeated repeatedResults
	archive  archive // finished jobs, oldest end first
	packing  []*job  // finished jobs to be packed after this step

	grace           []graceEntry // taken over by this node and in takeover grace, oldest first
	closing         []*job       // all their tasks have ended; the members are told soon
	takenOver       []grid.JobID // jobs taken over in this step
	barriers        cancelBarriers
	bulkEnds        bulkEnds
	ledger          quota.Ledger // of what is stored for others
	replicaWake     bool         // a TimerRegister is pending for registers
	backups         backupJobs
	ownerCache      ownerCache
	strayEntries    map[grid.JobID][]grid.EntryRecord // entries whose register has not come yet
	restoredBackups map[grid.TaskID]grid.BackupRecord // during restore: backup attempts that may live
}

var oneCore = grid.Resources{CPU: grid.CPU}

// New makes a node. Records of an earlier run follow by Restore, then EvStart.
func New(cfg Config, wall grid.Wall) (*Node, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	own := &parts{wall: wall, rng: grid.NewRand(cfg.Seed, 1), scratch: cfg.Scratch}
	n := &Node{parts: own, coordinator: coordinator{parts: own}}
	if n.scratch == nil {
		n.scratch = new(Scratch)
	}
	n.cfg = cfg.settings(n.scratch)
	n.replicas = replication.NewReplicas(replication.Config{Self: cfg.Self, Boot: cfg.Boot, Lease: n.cfg.Lease, Contacts: contacts{&n.coordinator}}, wall, n.rng)
	n.submissions = membership.New(membership.Config{Labels: cfg.Labels, Members: n.cfg.Members, Confirm: n.cfg.Confirm,
		Known: cfg.Known, Timer: grid.Timer{Kind: grid.TimerRegister, Key: pendingKey}, Contacts: contacts{&n.coordinator}, Keepalives: n.replicas}, n.rng)
	n.deposits = deposit.New(deposit.Config{Self: cfg.Self, Quota: n.cfg.Lend, Limit: n.cfg.Copies,
		Confirm: n.cfg.Confirm, Retry: n.cfg.Lease / 3, ResultBytes: quota.ResultBytes})
	n.queue.turns.Track((*job).setQueueIndex)
	n.live.retries.Track((*liveTask).setQueueIndex)
	n.barriers.jobs.Track((*job).setBarrierIndex)
	n.discovery = discovery.New(cfg.Self, &n.cfg.Discovery, grid.NewRand(cfg.Seed, 3))
	n.worker = worker.New(worker.Config{Self: cfg.Self, Boot: cfg.Boot, Capacity: cfg.Capacity, Lease: n.cfg.Lease, Overdue: n.cfg.Overdue,
		Private: cfg.Private, Whole: !n.cfg.Balance.Rest, Bounds: cfg.Bounds, RunTime: n.runTime, Contacts: contacts{&n.coordinator}, Ledger: &n.ledger})
	n.rates = rates.New(rates.Config{Given: cfg.Given, Speed: cfg.Speed, Memory: cfg.Memory, Scratch: &n.scratch.rating})
	n.gossip = gossip.New(cfg.Self, &n.cfg.Gossip, grid.NewRand(cfg.Seed, 2))
	n.profile = profile.New(profile.Config{Self: cfg.Self, Boot: cfg.Boot, Name: cfg.Name, Capacity: cfg.Capacity, Speed: cfg.Speed,
		Engines: cfg.Engines, Private: cfg.Private, Prior: rates.Prior, Gossip: n.gossip}, cfg.Labels)
	n.policies = policies.New(policies.Config{Seed: cfg.Seed, Balance: &n.cfg.Balance})
	if _, err := n.policy(""); err != nil {
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

// startNode resumes after a restart: the jobs, then the attempts accepted here.
func (n *Node) startNode(now grid.Time, fx *grid.Effects) {
	n.submissions.Start(now)
	n.worker.Start(now)
	n.discovery.Start(now)
	n.start(now, fx)
	n.gossip.Start(now, n.nextAd(now), fx)
	n.askAttempts(now, n.cfg.Self, fx)
	n.worker.Resume(now, fx)
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
		n.startNode(now, fx)
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
		if n.submit(now, ev, fx) {
			n.createJobs(now, n.submissions.Submit(now, ev.Job, ev.Spec, ev.Caller, fx), fx)
		}
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
		n.profile.SetAddrs(now, ev.Addrs, fx)
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
