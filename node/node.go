package node

import (
	"errors"
	"fmt"

	"skep/discovery"
	"skep/gossip"
	"skep/grid"
	"skep/node/checkpoint"
	"skep/node/coordinator"
	"skep/node/dependency"
	"skep/node/deposit"
	"skep/node/membership"
	"skep/node/peers"
	"skep/node/policies"
	"skep/node/profile"
	"skep/node/pull"
	"skep/node/quota"
	"skep/node/rates"
	"skep/node/registers"
	"skep/node/replication"
	"skep/node/worker"
)

// Node is one member of the grid. Its methods are called from one goroutine. Its parts are values: each step reads most
// of them, and they lie together in memory.
type Node struct {
	coordinator.Views

	settings
	stats counts // those of the node itself
	local int    // sends in the effects that deliverLocal has seen

	coordinator coordinator.Coordinator
	worker      worker.Worker
	replicas    replication.Replicas
	submissions membership.Submissions // their members are not chosen yet
	dependency  dependency.Dependencies
	peers       peers.Peers
	pull        *pull.Exchange // nil = Tuning.Pull is off
	rates       rates.Estimator
	profile     profile.Profile
	gossip      gossip.Gossip
	discovery   discovery.Discovery
}

// settings are what the parts of a node have in common.
type settings struct {
	self    grid.NodeID
	tuning  *Tuning
	scratch *Scratch
}

var oneCore = grid.Resources{CPU: grid.CPU}

// New makes a node. Records of an earlier run follow by Restore, then EvStart.
func New(cfg Config, wall grid.Wall) (*Node, error) {
	s := cfg.Scratch
	if s == nil {
		s = new(Scratch)
	}
	t, err := s.tuning(&cfg.Tuning)
	if err := errors.Join(cfg.checkOwn(), err); err != nil {
		return nil, err
	}
	n, rng := &Node{settings: settings{cfg.Self, t, s}}, grid.NewRand(cfg.Seed, 1)
	n.gossip = gossip.New(cfg.Self, &t.Gossip, grid.NewRand(cfg.Seed, 2))
	n.discovery = discovery.New(cfg.Self, &t.Discovery, grid.NewRand(cfg.Seed, 3))
	n.rates = rates.New(rates.Config{Given: cfg.Given, Speed: cfg.Speed, ArrivalMemory: cfg.ArrivalMemory,
		Scratch: &s.rates})
	n.profile = profile.New(profile.Config{Self: cfg.Self, Boot: cfg.Boot, Name: cfg.Name, Capacity: cfg.Capacity,
		Speed: cfg.Speed, Engines: cfg.Engines, Private: cfg.Private, Accept: cfg.Accept,
		Prior: rates.Prior, Gossip: &n.gossip, Rand: rng}, cfg.Labels)
	n.peers = peers.New(peers.Config{Self: cfg.Self, Private: cfg.Private, Cores: cfg.Capacity.CPU, Speed: cfg.Speed,
		Exec: n.worker.Exec(), Worker: &n.worker, ArrivalMemory: cfg.ArrivalMemory, RatesGiven: len(cfg.Given) > 0,
		Balance: &t.Balance, Truth: cfg.Truth, Scratch: &s.peers, Gossip: &n.gossip, Rates: &n.rates,
		Profile: &n.profile, GangFacts: cfg.GangFacts,
		Policies: policies.New(policies.Config{Seed: cfg.Seed, Balance: &t.Balance, Default: t.Policy})})
	n.replicas = replication.NewReplicas(replication.Config{Self: cfg.Self, Boot: cfg.Boot, Lease: t.Lease,
		Signer: cfg.Signer}, wall, rng)
	n.submissions = membership.New(membership.Config{Labels: cfg.Labels, Members: t.Members, Confirm: t.Confirm,
		Known: cfg.Known, Timer: grid.Timer{Kind: grid.TimerRegister, Key: coordinator.SubmissionsKey},
		Contacts: &n.peers, Keepalives: &n.replicas}, rng)
	accounts := new(quota.Accounts)
	n.worker = worker.New(worker.Config{Self: cfg.Self, Boot: cfg.Boot, Capacity: cfg.Capacity, Lease: t.Lease,
		Private: cfg.Private, Durable: cfg.Durable, Whole: !t.Balance.Rest, Bounds: cfg.Bounds,
		RunTime: n.peers.RunTime, Contacts: &n.peers, Quota: accounts, Order: &t.Order, Policy: t.Policy, Signer: cfg.Signer})
	n.coordinator = coordinator.New(coordinator.Config{Tuning: &t.Tuning, Self: cfg.Self, Boot: cfg.Boot, Known: cfg.Known,
		TakeoverDelay: replication.TakeoverDelay(t.Lease), Expire: t.Gossip.Expire, ResultRetry: worker.MaxResultRetry},
		coordinator.Parts{GangRand: grid.NewRand(cfg.Seed, 5), Wall: wall, Scratch: &s.coordinator, Gossip: &n.gossip,
			Peers: &n.peers, Worker: &n.worker, Discovery: &n.discovery, Quota: accounts, Awaited: &n.dependency,
			Registers: registers.Registers{Replicas: &n.replicas},
			Deposits: deposit.New(deposit.Config{Self: cfg.Self, Quota: t.DepositQuota, Limit: t.DepositLimit,
				Confirm: t.Confirm, Retry: t.Lease / 3, ResultBytes: quota.ResultBytes}),
			Checkpoints: checkpoint.New(checkpoint.Config{Self: cfg.Self, Quota: t.DepositQuota, Limit: t.DepositLimit,
				Confirm: t.Confirm, Retry: t.Lease / 3})})
	n.Views = n.coordinator.Views()
	n.dependency = dependency.New(dependency.Config{Self: cfg.Self, Boot: cfg.Boot, Jobs: &n.coordinator,
		Contacts: &n.peers})
	if t.Pull {
		n.pull = pull.New(pull.Config{Worker: &n.worker, Jobs: &n.coordinator, Peers: &n.peers,
			Rand: grid.NewRand(cfg.Seed, 4)})
	}
	return n, nil
}

// Restore takes a record saved by an earlier run. All records come before EvStart, in any order.
func (n *Node) Restore(r *grid.Record) {
	switch r.Kind {
	case grid.RecWork:
		n.worker.Restore(&r.Work, n.coordinator.MembersVerified(r.Work.ID.Task.Job, r.Work.Owner))
	case grid.RecRegister:
		n.coordinator.RestoreRegister(&r.Register)
	case grid.RecEntry:
		n.coordinator.RestoreEntry(&r.Entry)
	case grid.RecTombstone:
		n.replicas.RestoreTombstone(&r.Tombstone)
	case grid.RecCheckpoint:
		n.coordinator.RestoreCheckpoint(r.Checkpoint)
	case grid.RecClass:
		n.rates.Restore(&r.Class)
	default:
		panic(fmt.Sprintf("node: record of kind %d was decoded but is not known", r.Kind))
	}
}

// start resumes after a restart: the jobs, then the attempts accepted here.
func (n *Node) start(now grid.Time, fx *grid.Effects) {
	n.submissions.Start(now)
	n.worker.Start(now)
	n.discovery.Start(now)
	n.coordinator.Start(now, fx)
	n.followCoordinator(now, fx)
	n.gossip.Start(now, n.nextAd(now), fx)
	n.coordinator.AskAttempts(now, n.self, fx)
	n.worker.Resume(now, fx)
}

// Step feeds one event to the node and appends what it wants done to fx. It never blocks, and the same
// state, time and event always give the same state and effects.
func (n *Node) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	fx.Begin()
	n.local = len(fx.Sends)
	n.coordinator.Begin()
	n.dependency.Begin(fx)
	n.worker.Advance(now)
	firstAnnounce := len(fx.Announces)
	n.handle(now, ev, fx)
	for more := true; more; more = n.dependency.Settle(now, fx) {
		n.settle(now, fx)
		for n.coordinator.PlaceNext(now, fx) {
			n.deliverLocal(now, fx)
		}
		for n.coordinator.StartBackups(now, fx) {
			n.deliverLocal(now, fx)
		}
		n.worker.RequestOwnLeases(now, fx)
		n.settle(now, fx)
	}
	if n.pull != nil && n.pull.Settle(now, fx) {
		n.profile.Changed(now, fx)
	}
	n.worker.SetTimers(now, fx)
	n.replicas.SendWrites(now, fx)
	n.coordinator.End(now, fx)
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
	n.stats.sent.Add(m.Kind)
	if (m.Kind == grid.KindFind || m.Kind == grid.KindCall) && m.Find.Asker == n.self && n.gossip.Ad() != nil {
		m.Digest = append(m.Digest[:0], grid.AdEntry{Ad: n.gossip.Ad()})
	}
}
