package sim

import "skep/sim/event"

// Kinds of events. An event for an earlier run of its node is dropped.
const (
	kindNone       event.Kind = iota
	kindStart                 // Node starts
	kindWake                  // a timer of Node: Sub is its kind, Arg its key
	kindMessage               // Arg names the body of a message that reaches Node
	kindHop                   // Arg names a flood that reaches Node
	kindDial                  // Arg names the connection whose handshake ends
	kindRedial                // Arg names the connection to dial again
	kindDown                  // Arg names the connection whose peer's death is noticed
	kindTimeout               // Arg names the connection that a cut may keep silent
	kindIdle                  // Arg names the connection to check for idleness
	kindStarted               // Arg names the run whose process starts on Node
	kindEnded                 // Arg names the run that ends on Node
	kindFetched               // Arg names the fetch of Node that ends
	kindCommit                // the commit of Node's disk ends
	kindFlush                 // Node's disk is to write postponed records
	kindSubmit                // the next submission of the workload is due
	kindCancel                // a client of Node cancels submission Arg
	kindFault                 // the next fault is due
	kindLeft                  // Node stops after it announced to leave
	kindDrained               // Node's time to drain is over: it leaves
	kindResume                // Node's pause is over
	kindLate                  // Node is told which attempts were started too late
	kindSaves                 // Arg names the run of Node that may have got to a checkpoint
	kindTaken                 // Arg names the checkpoint of Node whose files are stored
	kindBlock                 // Node's driver ends its connection to node Arg
	kindCancelTask            // a client cancels a task of submission Arg
	kindRanks                 // something happens in a parallel program, unless Arg is old
	kindRetryTask             // a client has a task of submission Arg run again
)

// packRef packs an index and a generation into an Arg.
func packRef(a int32, b uint32) uint64 { return uint64(uint32(a)) | uint64(b)<<32 }

// unpackRef is the inverse of packRef.
func unpackRef(arg uint64) (a int32, b uint32) { return int32(uint32(arg)), uint32(arg >> 32) }
