package node

import (
	"fmt"
	"slices"

	"skep/balance"
	"skep/discovery"
	"skep/exec"
	"skep/gossip"
	"skep/grid"
	"skep/node/quota"
)

// Node is one member of the grid. Its methods are called from one goroutine.
type Node struct {
	cfg  settings
	wall grid.Wall
	rng  *grid.Rand

	gossip        *gossip.Gossip
	discovery     *discovery.Discovery
	exec          *exec.Exec
	rates         *rates
	policies      []policy // the node's own, and those that jobs asked for, by name
	policiesMade  uint64   // policies so far
	policiesKept  int      // policies in use when the others were last let go
	peers         peerset
	records       []*trackRecord // by identity
	results       uint64         // results that came from who keeps his word
	awaitingProof int            // tasks that wait for somebody to deliver
	onProbation   int            // nodes that fit and were left out at the last look, because they have to deliver first
	site          *balance.Site  // of this node
	availability  availability
	autoClass     *autoClass   // nil = its class is given
	labels        []grid.Label // as told to others
	failures      failureLog

	jobs             lookup[grid.JobID, *job] // but for those that are filed
	jobQueue         jobQueue                 // with tasks that were never looked at
	lastTurn         uint64                   // last one given out there
	awaitingMajority []*job                   // of which something waits for a majority of their registers
	retries          retryQueue               // to be placed again
	waiting          []*liveTask              // nobody fits
	live             lookup[uint64, *liveTask]
	lastHandle       uint64 // last one given out
	dialled          []dialled
	repeated         repeatedResults
	inFlight         int     // tasks polled for or offered
	archive          archive // finished, oldest end first
	packing          []*job  // of them, those to be packed after this step

	replicas                 []*job // whose registers this node is a member of, until their end
	sharedWith               lookup[grid.NodeID, *sharedJobs]
	dirty                    []*job // whose registers may have something to say
	pending                  pendingSubmissions
	grace                    []graceEntry // taken over by this node, the first of them first
	closing                  []*job       // whose tasks have all ended, until the members are told
	coMembers                coMembers
	ownerRecords             map[grid.JobID]*ownerRecord
	takenOver                []grid.JobID // taken over in this step
	barriers                 cancelBarriers
	transfers                map[grid.AttemptID]transfer
	ownerTerms, keepalives   uint64       // times that this node began to write to a register in this boot, and watched
	deposited                grid.Bytes   // for the files of jobs submitted elsewhere
	bulkEnds                 []*job       // of which more tasks are to be ended at once
	ledger                   quota.Ledger // of what is kept for others
	replicaWake, pendingWake bool         // a TimerGuard is on its way, for registers and for those being made
	backups                  backupJobs
	ownerCache               ownerCache
	strayEntries             map[grid.JobID][]grid.EntryRecord // as orphans, of jobs with a register
	restoredBackups          map[grid.TaskID]grid.CopyRecord   // while records are restored: second copies that may live
	strayTasks               map[grid.JobID][]grid.TaskRecord  // while records are restored: tasks whose job has not come yet

	addrs            []string
	ads              uint64     // own ads made in this boot
	lastAd, started  grid.Time  // and when this node started
	adWake           bool       // a TimerAd is on its way
	beatWake         bool       // a TimerBeat is on its way
	overdueWake      bool       // a TimerOverdue is on its way
	boundWake        grid.Time  // when a TimerBound comes
	letGo            tombstones // attempts of others that were let go of
	neverRan         tombstones // those refused or handed back, which never ran
	freed            bool       // attempts were let go of in this step
	lowDisk, leaving bool       // the disk is nearly full; it is about to stop: nothing starts any more
	drainUntil       grid.Time  // when what runs on this node is stopped, if it drains: that is not on disk, and a node that is started again takes work again
	resultWake       grid.Time
	firstSend        int // messages in the effects when the step began
	stats            Counts
	scratch          *Scratch
}

var oneCore = grid.Resources{CPU: grid.CPU}

// New makes a node. Records of a former run follow by Restore, then EvStart.
func New(cfg Config, wall grid.Wall) (*Node, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	n := &Node{wall: wall, rng: grid.NewRand(cfg.Seed, 1), exec: exec.New(cfg.Capacity), scratch: cfg.Scratch, availability: availability{idleShare: 1, upShare: 1}}
	if n.scratch == nil {
		n.scratch = new(Scratch)
	}
	n.cfg = cfg.settings(n.scratch)
	n.discovery = discovery.New(cfg.Self, &n.cfg.Discovery, grid.NewRand(cfg.Seed, 3))
	n.initExec()
	n.rates = newRates(&n.cfg)
	n.gossip = gossip.New(cfg.Self, &n.cfg.Gossip, grid.NewRand(cfg.Seed, 2))
	n.rates.measured, n.rates.speed = n.median, n.exec.Speed
	if n.labels, n.autoClass = cfg.Labels, newAutoClass(cfg.Labels); n.autoClass != nil {
		n.labels = n.autoClass.labels
	}
	n.site = siteOf(n.labels, nil)
	if _, err := n.policy(cfg.Policy); err != nil {
		return nil, err
	}
	return n, nil
}

// Restore takes back a record that a former run saved. All of them come before EvStart, in any order.
func (n *Node) Restore(r *grid.Record) {
	switch r.Kind {
	case grid.RecJob:
		n.restoreJob(&r.Job)
	case grid.RecTask:
		n.restoreTask(&r.Task)
	case grid.RecWork:
		n.restoreWork(&r.Work)
	case grid.RecRegister:
		n.restoreReplica(r.Register)
	case grid.RecEntry:
		n.restoreEntry(r.Entry)
	case grid.RecClass:
		n.rates.restore(&r.Class)
	default:
		panic(fmt.Sprintf("node: record of kind %d was decoded but is not known", r.Kind))
	}
}

// Step feeds one event to the node and appends what it wants done to fx. It never blocks, and the same
// state, time and event always give the same state and effects.
func (n *Node) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	n.firstSend = len(fx.Sends)
	n.exec.Advance(now)
	said := len(fx.Announces)
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
		n.attemptEnded(now, ev.Attempt, ev.Result, fx)
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
		n.startedTooLate(now, ev.Attempt, fx)
	case grid.EvLeave, grid.EvDrain, grid.EvUndrain:
		n.handleDrain(now, ev, fx)
	}
	n.startFreed(now, fx)
	n.placeQueued(now, fx)
	n.startBackups(now, fx)
	n.startFreed(now, fx)
	n.sendWrites(now, fx)
	n.announceTakeovers(fx)
	n.packFinished()
	for i := n.firstSend; i < len(fx.Sends); i++ {
		n.sign(&fx.Sends[i].Msg)
	}
	for i := said; i < len(fx.Announces); i++ {
		n.sign(&fx.Announces[i])
	}
}

// sign counts a message, and puts this node's ad into its own searches and calls, so that whoever is found
// knows where to answer.
func (n *Node) sign(m *grid.Message) {
	n.stats.Sent[m.Kind]++
	if (m.Kind == grid.KindFind || m.Kind == grid.KindCall) && m.Find.Asker == n.cfg.Self && n.gossip.Ad() != nil {
		m.Digest = append(m.Digest[:0], grid.AdEntry{Ad: n.gossip.Ad()})
	}
}
