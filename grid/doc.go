// Package grid holds the types that every other package shares: who a node is, what a job, a task and
// an attempt are, what a node says about itself, and what goes into and comes out of one step of it.
//
// There is no logic here beyond printing, parsing and checking bounds. The central idea is that a node
// is a pure state machine: one [Event] and the time go in, and what the node wants done is appended to
// [Effects]. Drivers own clocks, sockets, disks and processes; the same node therefore runs on real
// machines and, by the thousand, in the simulator.
//
// Ownership: *Ad, *JobSpec and *Result are immutable once built and may be kept and shared. Everything
// else that is reachable from an event or from the effects is dead after the step: whoever needs it
// longer copies it.
//
// Sources, cited by number in this module:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009.
package grid

import "time"

// Bounds of everything that comes from outside. What is larger is an error where a person asks and is
// counted and dropped where a peer sends it.
const (
	MaxName    = 128       // bytes of a job's or node's name
	MaxClass   = 64        // bytes of a class
	MaxUser    = 128       // bytes of a user's name
	MaxText    = 512       // bytes of an error or detail
	MaxCount   = 100_000   // tasks of a job
	MaxArgs    = 1024      // words of a command
	MaxCommand = 64 * KiB  // bytes of a command
	MaxEnv     = 256       // variables
	MaxEnvSize = 32 * KiB  // bytes of all variables
	MaxFiles   = 1024      // inputs, or collected outputs
	MaxPath    = 1024      // bytes of a path
	MaxGlobs   = 64        // output patterns
	MaxLabels  = 64        // labels of a node or of a need
	MaxValues  = 16        // values of one label need
	MaxLabel   = 64        // bytes of a label's key or value
	MaxEngines = 8         // engines of a node
	MaxRates   = 17        // classes in an ad or poll: the 16 busiest and "other"
	MaxAddrs   = 8         // addresses in an ad
	MaxAddr    = 256       // bytes of an address
	MaxAds     = 64        // ads in a digest
	MaxAdSize  = 4 * KiB   // sealed bytes of an ad
	MaxDigest  = 16 * KiB  // sealed bytes in a digest
	MaxBeats   = 1024      // attempts in a beat, an ask or a drop
	MaxEntries = 256       // entries of a register in a message
	MaxMembers = 5         // of a register
	MaxProof   = 520       // bytes of the signatures of an assignment or of an end
	MaxMandate = 326       // bytes of the votes for an owner
	MaxLinks   = 6848      // bytes of the signed changes of a register's members
	MaxBarred  = 8         // nodes in an offer that may not pull it
	MaxInline  = 4 * KiB   // output that travels in a result
	MaxVisited = 32        // nodes that a search remembers
	MaxMillis  = 1_000_000 // cores × 1000 a node may claim
	MaxMemory  = 1 << 50   // bytes a node may claim
	MaxRate    = 1e9       // tasks per second
	MaxRetries = 1000
	MaxTimeout = 366 * 24 * time.Hour
	MaxHops    = 64

	MaxEntriesSize = 256 * KiB // bytes of the entries in a message, if there is more than one
)
