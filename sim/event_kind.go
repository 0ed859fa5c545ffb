package sim

import (
	"unsafe"

	"skep/grid"
	"skep/sim/event"
)

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
	kindTell                  // Node tells others how far it has saved, or hears what Arg names
)

// packRef packs an index and a generation into an Arg.
func packRef(a int32, b uint32) uint64 { return uint64(uint32(a)) | uint64(b)<<32 }

// unpackRef is the inverse of packRef.
func unpackRef(arg uint64) (a int32, b uint32) { return int32(uint32(arg)), uint32(arg >> 32) }

// prefetcher reads the memory that the next events need into the processor's cache. Nodes wake in random order, so an
// event's memory is seldom there. The reads for several events do not depend on each other: the processor waits for all
// of them together about as long as for one.
type prefetcher struct {
	left int    // events for which that is done
	sum  uint64 // of what was read, so that the reads are not optimised away
}

// prefetchEvents is the number of events to read ahead for: as many as the processor can wait for at once.
const prefetchEvents = 16

// firstWord reads the beginning of a member, whatever its type; 0 where there is none.
func firstWord(m Member) uint64 {
	if p := (*[2]*uint8)(unsafe.Pointer(&m))[1]; p != nil {
		return uint64(*p)
	}
	return 0
}

// fetchConns reads the connections of messages that are about to be sent, likewise.
func (w *World) fetchConns(i int32, sends []grid.Send) {
	sum := w.ahead.sum
	for k := range sends {
		if at, ok := findConn(w.hosts[i].links, int32(get32(sends[k].To[:]))); ok {
			sum += uint64(w.conns[w.hosts[i].links[at].conn].gen)
		}
	}
	w.ahead.sum = sum
}

// fetchAhead reads ahead for the next events once those of the last call are over.
func (w *World) fetchAhead() {
	if w.ahead.left--; w.ahead.left > 0 {
		return
	}
	next := w.queue.Upcoming()
	next = next[:min(len(next), prefetchEvents)]
	w.ahead.left = len(next)
	sum := w.ahead.sum
	for k := range next { // each loop reads addresses that the one before has read
		e := &next[k]
		h := &w.hosts[e.Node]
		sum += h.boots + uint64(len(h.links))
		if e.Kind == kindMessage {
			sum += uint64(w.bodies.at(int32(e.Arg)).from)
		}
	}
	for k := range next {
		e := &next[k]
		sum += firstWord(w.hosts[e.Node].member)
		if e.Kind == kindMessage {
			sum += uint64(w.conns[w.bodies.at(int32(e.Arg)).conn].gen)
		} else if l := w.hosts[e.Node].links; len(l) > 0 {
			sum += uint64(l[len(l)/2].peer)
		}
	}
	w.ahead.sum = sum
}
