package grid

import "time"

// Kind is the kind of a message.
type Kind uint8

// Kinds of messages. The numbers are on the wire: never reuse one.
const (
	KindDigest        Kind = iota + 1 // ads, neighbour to neighbour
	KindPoll                          // when would a task of this class be done? with the sender's rates
	KindState                         // the answer to a poll, with its sender's rates
	KindOffer                         // an attempt is offered to a worker
	KindAccept                        // the worker accepts the attempt
	KindRefuse                        // the worker refuses the attempt, or no longer has it, and why
	KindBeat                          // a worker still has these attempts of an owner
	KindDrop                          // these attempts are no longer live: stop and forget them
	KindResult                        // an attempt ended
	KindResultAck                     // the result is saved: forget it
	KindAsk                           // which of these attempts does the worker have?
	KindFind                          // a search on its walk
	KindHit                           // the node that a search or call found, sent straight to the asker
	KindMiss                          // a search ended without finding a node
	KindCall                          // announcement: which node meets this need?
	KindBye                           // announcement: the sender leaves; carried as its last ad
	KindWrite                         // the owner of a job's register writes to a member
	KindWriteAck                      // the member's answer to KindWrite
	KindCampaign                      // a member campaigns for a new epoch of a job's register; epoch 0: asks for Opened
	KindVote                          // another member's answer to KindCampaign
	KindKeepalive                     // an owner is alive, and owns these registers of which the receiver is a member
	KindKeepaliveAck                  // the answer to KindKeepalive: agreed, or not
	KindTakeover                      // announcement, or an answer: who owns these jobs now
	KindStartLease                    // a worker requests start leases for these waiting attempts
	KindStartLeaseAck                 // start leases are granted for these attempts
	KindDeposit                       // an owner asks a member to deposit the job's inputs, or a task's output
	KindDepositAck                    // the answer to KindDeposit: they are here, or why not
	KindWaiting                       // work waits here that the receiver fits
	KindPull                          // the sender is idle: give it one of the tasks that wait
	KindNoWork                        // the answer to a pull: nothing waits here that the receiver would be given
	KindAwait                         // how did a job end? tell me, now and when it has
	KindAwaited                       // the answer to KindAwait, and the news
	KindReserve                       // an owner asks a worker to keep slots for ranks of a gang, or no longer
	KindReserveAck                    // the answer to KindReserve: they are kept, or not, or not any more

	// a worker tells the owner of the checkpoints of an attempt
	KindCheckpoint
	// the owner tells the worker which one to take, and which are not needed any more
	KindCheckpointAck
	// an owner asks a member to keep a checkpoint, or a member says which it keeps
	KindCheckpointKeep
	// the owner asks the worker to give up an attempt that has started, as another node would be done sooner with it
	KindVacate
	kinds
)

var kindNames = [...]string{"", "digest", "poll", "state", "offer", "accept", "refuse", "beat", "drop", "result",
	"result_ack", "ask", "find", "hit", "miss", "call", "bye",
	"guard", "guarded", "promise", "promised", "watch", "watched", "takeover", "hold", "held", "copy", "copied",
	"waiting", "pull", "no_work", "await", "awaited", "reserve",
	"reserve_ack", "checkpoint", "checkpoint_ack", "checkpoint_keep", "vacate"}

// Kinds is the number after the last kind.
const Kinds = int(kinds)

// String returns the kind's name as in metrics.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Early reports whether a message of the kind need not wait for records: it only asks or estimates.
func (k Kind) Early() bool {
	return k == KindPoll || k == KindState || k == KindWaiting || k == KindPull || k == KindNoWork
}

// KindSet is a set of message kinds, a bit each.
type KindSet uint64

// AllKinds are the kinds that this version of Skep understands.
const AllKinds = KindSet(1<<kinds - 2)

// Has reports whether k is in the set.
func (s KindSet) Has(k Kind) bool { return s&(1<<k) != 0 }

// Message is a message between two nodes. Only the fields of its kind are set; it is one flat struct so that a buffer
// of messages is reused without allocation.
type Message struct {
	Kind   Kind
	Digest []AdEntry // KindDigest; one entry in KindHit and KindBye; in KindFind and KindCall the asker's, if any
	Poll   Poll      // KindPoll; of KindPull its Needs are the free resources
	State  State     // KindState
	Offer  Offer     // KindOffer
	// KindAccept, KindRefuse, KindResult, KindResultAck, KindVacate, KindDeposit, KindDepositAck: one, whose number is
	// zero in the last two if it stands for the inputs; KindBeat, KindDrop, KindAsk, KindStartLease, KindStartLeaseAck:
	// any number
	Attempts []AttemptID
	Refusal  Refusal // KindRefuse, KindDepositAck
	Puller   NodeID  // KindRefuse with WhyPulled: the node that asked for the task
	Prices   *Prices // KindRefuse with WhyWorth: for which it is refused; immutable
	Result   *Result // KindResult, KindDeposit; immutable
	Find     Find    // KindFind, KindHit, KindMiss, KindCall
	// KindWrite to KindTakeover, KindAwait, KindAwaited; of KindStartLease and KindStartLeaseAck its Seq
	Register RegisterMessage
	Started  bool     // KindAccept: the attempt has started at once; KindVacate: also if it is not suspended
	Reports  []Report // KindBeat, KindStartLease: about some of Attempts, in their order; MaxReports at most
	Order    uint8    // KindStartLease: number of the rule of the sender's queue, as of the reports; 0 = not said
	Reserve  *Reserve // KindReserve, KindReserveAck; immutable
	// KindCheckpoint, KindCheckpointAck, KindCheckpointKeep, about the one of Attempts; immutable
	Checkpoint *Checkpoint
}

// Reset makes m an empty message of the kind and keeps the memory of its slices.
func (m *Message) Reset(k Kind) {
	clear(m.Digest)
	if m.Kind == KindDigest && k == KindDigest { // most messages: nothing else is set
		m.Digest = m.Digest[:0]
		return
	}
	digest, attempts, visited := m.Digest[:0], m.Attempts[:0], m.Find.Visited[:0]
	poll, state := m.Poll.Rates[:0], m.State.Rates[:0]
	options, answers := m.Poll.Options[:0], m.State.Options[:0]
	offer, barred := m.Offer.Members[:0], m.Offer.Barred[:0]
	members, entries := m.Register.Members[:0], m.Register.Entries[:0]
	reports := m.Reports[:0]
	clear(m.Register.Entries)
	clear(m.Reports)
	*m = Message{} // cleared in place: a literal with the slices would be built elsewhere and copied
	m.Kind, m.Digest, m.Attempts, m.Find.Visited = k, digest, attempts, visited
	m.Poll.Rates, m.State.Rates, m.Offer.Members, m.Offer.Barred = poll, state, offer, barred
	m.Poll.Options, m.State.Options = options, answers
	m.Register.Members, m.Register.Entries, m.Reports = members, entries, reports
}

// Poll asks when a task of a class would be done, and carries the asker's own rates: mutual information feedback [1,
// section 4.3].
type Poll struct {
	ID    uint64
	Class string
	Needs Resources
	Rates []Rate // the asker's, if its version is newer than Have of the last exchange; else empty
	Speed float64
	Cores MilliCPU
	Mine  uint64 // version of the asker's rates
	Have  uint64 // version of the answerer's rates that the asker has
	Bid   Bid    // for the task

	Trades bool // the asker goes by prices: the answer is to have a Quote

	Options []PollOption // of the task's job; then Needs are what all of them need
}

// State answers a poll.
type State struct {
	ID      uint64
	ECT     time.Duration // expected time until the task would be done here, all queued before it included
	Backlog time.Duration // expected time until a task of these needs would start
	Free    Resources
	Why     Why    // why it would be refused now; WhyNone = it would be accepted
	Rates   []Rate // as in Poll
	Speed   float64
	Cores   MilliCPU
	Mine    uint64
	Have    uint64
	// start lease stamp: the answerer's time and boot. An offer repeats it, which proves that the offer is younger
	Stamp uint64

	// The queue here, for policies that use it: waiting and running attempts; and, of the attempts that must end before
	// such a task starts, the expected time done and left.
	Waiting, Running int32
	Ran, Rest        time.Duration

	Quote

	Options []OptionState // of the poll's options, in their order
}

// PollOption is an option of the job of a task that a node is polled for.
type PollOption struct {
	Needs   Resources
	Speedup float64
}

// OptionState is what a node expects of a task as an option.
type OptionState struct {
	ECT, Ready time.Duration // as State's ECT and Backlog
	Why        Why           // why it would be refused now; WhyNone = it would be accepted
}

// Offer asks a node to accept an attempt.
type Offer struct {
	ID     AttemptID
	Spec   *JobSpec
	Class  string
	Lease  time.Duration // how long the owner waits for a beat before the attempt counts as lost
	Age    time.Duration // since submission
	Stamp  uint64        // the newest stamp received from the worker; 0 = none
	Stays  bool          // it was pulled as often as a task may be: it stays in the worker's queue
	Pulled bool          // the worker has asked for it
	Asks   bool          // the owner asks the worker before it gives the attempt up

	Inputs  []File   // left by tasks of other jobs; immutable
	Members []NodeID // of the job's register, by place; none = its owner alone keeps it
	Changes uint32   // of the members: Membership.Number; 0 = they are as the origin chose them, itself first
	Barred  []NodeID // to which the owner would not offer the task: none of them may pull it; MaxBarred at most

	Places []RankPlace // of a rank of a gang with NetworkGang: of all ranks; immutable
	Before Division    // of a rank that begins from a checkpoint: that of the attempt which has written it
	Option uint8       // of the job, that the attempt runs as, from 1; 0 = it has none

	Assigned string // of a signed job: what the owner has signed, see package chain
	// of a job with secrets, or of a signed one whose members have changed: who its first members are, as its origin has
	// signed, see package chain
	Evidence string
	Links    string // of a signed job: the signed changes of its members, as Membership.Links
}

// Find is a search for nodes that meet a need, walking from neighbour to neighbour, and its outcome.
type Find struct {
	ID      uint64 // drawn by the asker
	Asker   NodeID
	Needs   Needs
	Engine  string
	Left    uint8         // hops left
	Hops    uint8         // hops made
	Within  time.Duration // time until the asker's deadline, as far as known
	Visited []NodeID
}

// KindCounts counts messages by kind, up to the last kind that came: in a large grid most nodes know few.
type KindCounts []uint64

// Add counts a message of a kind.
func (c *KindCounts) Add(k Kind) {
	if int(k) >= len(*c) {
		*c = append(*c, make([]uint64, int(k)+1-len(*c))...)
	}
	(*c)[k]++
}
