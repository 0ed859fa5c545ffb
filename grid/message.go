package grid

import "time"

// Kind is the kind of a message.
type Kind uint8

// What nodes tell each other. The numbers are on the wire: never reuse one.
const (
	KindDigest        Kind = iota + 1 // ads, neighbour to neighbour
	KindPoll                          // how soon would you be done with a task of this class? and my rates
	KindState                         // the answer, and its sender's rates
	KindOffer                         // take this attempt
	KindAccept                        // taken: it is mine now
	KindRefuse                        // not taken, and why
	KindBeat                          // I still have these attempts of yours
	KindDrop                          // these attempts are no longer live: stop and forget them
	KindResult                        // an attempt ended
	KindResultAck                     // the result is saved, forget it
	KindAsk                           // what became of these attempts?
	KindFind                          // a search on its walk
	KindHit                           // a search's or call's find, straight to the asker
	KindMiss                          // a search ended without a find
	KindCall                          // announcement: who can meet this need?
	KindBye                           // announcement: I am leaving; carried as the leaver's last ad
	KindWrite                         // the owner of a job's register writes to a member
	KindWriteAck                      // the member's answer
	KindCampaign                      // a member of a job's register wants to be the owner of a new epoch
	KindVote                          // another member's answer
	KindKeepalive                     // I live, and own these registers that you hold
	KindKeepaliveAck                  // the answer: so it is, or not
	KindTakeover                      // announcement, or an answer: who owns these jobs now
	KindStartLease                    // these attempts of yours wait here: may they still start?
	KindStartLeaseAck                 // these may
	KindDeposit                       // the owner of a job's register wants a member to have the job's inputs, or what a task left
	KindDepositAck                    // the answer: they are there, or why not
	kinds
)

var kindNames = [...]string{"", "digest", "poll", "state", "offer", "accept", "refuse", "beat", "drop", "result",
	"result_ack", "ask", "find", "hit", "miss", "call", "bye",
	"guard", "guarded", "promise", "promised", "watch", "watched", "takeover", "hold", "held", "copy", "copied"}

// Kinds is the number after the last kind.
const Kinds = int(kinds)

// String returns the kind's name as in metrics.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Early reports whether a message of the kind need not wait for records: it only asks, or estimates.
func (k Kind) Early() bool { return k == KindPoll || k == KindState }

// KindSet is a set of message kinds, a bit each.
type KindSet uint64

// AllKinds is what this version of Skep understands.
const AllKinds = KindSet(1<<kinds - 2)

// Has reports whether k is in the set.
func (s KindSet) Has(k Kind) bool { return s&(1<<k) != 0 }

// Message is what one node tells another. Only the fields of its kind mean anything; they lie side by
// side so that a buffer of messages is used again and again without allocation.
type Message struct {
	Kind     Kind
	Digest   []AdEntry   // KindDigest; one entry in KindHit and KindBye; in KindFind and KindCall the asker's, if any
	Poll     Poll        // KindPoll
	State    State       // KindState
	Offer    Offer       // KindOffer
	Attempts []AttemptID // KindAccept, KindRefuse, KindResult, KindResultAck, KindCopy, KindCopied: one, of the last two with no number where it stands for the inputs; KindBeat, KindDrop, KindAsk, KindHold, KindHeld: any number
	Refusal  Refusal     // KindRefuse, KindCopied
	Result   *Result     // KindResult, KindCopy; immutable
	Find     Find        // KindFind, KindHit, KindMiss, KindCall
	Register Register    // KindGuard to KindTakeover; of KindHold and KindHeld its Seq
}

// Reset makes m an empty message of the kind and keeps the memory of its slices.
func (m *Message) Reset(k Kind) {
	clear(m.Digest)
	*m = Message{Kind: k, Digest: m.Digest[:0], Attempts: m.Attempts[:0],
		Poll:  Poll{Rates: m.Poll.Rates[:0]},
		State: State{Rates: m.State.Rates[:0]},
		Find:  Find{Visited: m.Find.Visited[:0]}, Register: m.Register,
		Offer: Offer{Members: m.Offer.Members[:0]}}
	m.Register.reset()
}

// Poll asks how soon a task of a class would be done, and carries the asker's own rates: mutual
// information feedback [1, section 4.3].
type Poll struct {
	ID    uint64
	Class string
	Needs Resources
	Rates []Rate // the asker's, if its version is newer than Have of the last exchange; else empty
	Speed float64
	Cores MilliCPU
	Mine  uint64 // version of the asker's rates
	Have  uint64 // version of the answerer's rates that the asker has
}

// State answers a poll.
type State struct {
	ID      uint64
	ECT     time.Duration // expected time until the task would be done here, all queued before it included
	Backlog time.Duration // expected time until a task of these needs would start
	Free    Resources
	Why     Why    // why it would be refused now; WhyNone if it would be taken
	Rates   []Rate // as in Poll
	Speed   float64
	Cores   MilliCPU
	Mine    uint64
	Have    uint64
	Stamp   uint64 // names the time and boot of who answers: an offer repeats it, and so shows that it is younger

	// The queue here, for policies that look at it: attempts that wait and that run, and of what would have to end
	// before such a task starts, the expected time that is behind it and that is left.
	Waiting, Running int32
	Ran, Rest        time.Duration
}

// Offer asks a node to take an attempt.
type Offer struct {
	ID    AttemptID
	Spec  *JobSpec
	Class string
	Lease time.Duration // how long the origin waits for a beat before it takes the attempt for lost
	Age   time.Duration // since submission
	Stamp uint64        // the last that was heard of who is offered this; 0 = none

	Members []NodeID // of the job's register, the origin first; none = the origin alone keeps the job
}

// Find is a search for nodes that meet a need, on its walk from neighbour to neighbour, and what comes of it.
type Find struct {
	ID      uint64 // drawn by the asker
	Asker   NodeID
	Needs   Needs
	Engine  string
	Left    uint8         // hops it may still go
	Hops    uint8         // hops it has gone
	Within  time.Duration // until the asker's deadline, as far as known
	Visited []NodeID
}
