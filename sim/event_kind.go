package sim

// Kind is the kind of an event of the world.
type Kind uint8

// What happens in the world. Events that were meant for a node's earlier run are dropped.
const (
	kindNone    Kind = iota
	kindStart        // Node comes up
	kindWake         // a timer of Node: Sub is its kind, Arg its key
	kindMessage      // Arg names the body of a message that reaches Node
	kindHop          // Arg names a flood that reaches Node, and the node it comes from
	kindDial         // Arg names the connection whose handshake is over
	kindRedial       // Arg names the connection to be dialled again
	kindDown         // Arg names the connection that Node finds dead
	kindTimeout      // Arg names the connection that has carried nothing for too long
	kindIdle         // Arg names the connection that nobody may need any more
	kindStarted      // Arg names the run whose process now runs on Node
	kindEnded        // Arg names the run that ends on Node
	kindFetched      // Arg names the fetch of Node that is over
	kindCommit       // Node's disk has written what it was writing
	kindFlush        // Node's disk is to write what no effect waits for
	kindSubmit       // the next submission of the workload is due
	kindCancel       // a client of Node cancels submission Arg
	kindFault        // the next fault is due
	kindLeft         // Node stops, as it said
	kindDrained      // Node has had its time to drain, and leaves
	kindResume       // Node may go on
	kindLate         // Node hears what it was to start, too late
	kindBlock        // Node's driver cuts off node Arg
)

// packRef packs two names into an Arg.
func packRef(a int32, b uint32) uint64 { return uint64(uint32(a)) | uint64(b)<<32 }

// unpackRef is the inverse of pair.
func unpackRef(arg uint64) (a int32, b uint32) { return int32(uint32(arg)), uint32(arg >> 32) }
