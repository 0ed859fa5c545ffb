package wire

// Status is the first byte of an answer on a stream with one request: of blobs, outputs and reachability.
const (
	StatusOK    byte = iota
	StatusNone       // there is nothing to answer with
	StatusBusy       // the peer has no seat for the stream
	StatusTaken      // another stream has done, or does, what was asked for
)
