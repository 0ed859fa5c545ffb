package advice

// Settings are the settings with which the nodes of a grid do as a protocol does, as a line each; none = they cannot.
// Nodes have no matcher: what a protocol decides at one is decided by the owners of tasks and the order of workers.
func Settings(protocol string) []string {
	switch protocol {
	case "cda": // fair, the default, also shares among those who bid the same, and low bids rise
		return []string{"order: bid # or fair", never}
	case "fifo", "sjf":
		return []string{"order: " + protocol, never}
	case "hbp":
		return []string{"order: bid", "preempt: suspend:1"}
	case "hbp_t":
		return []string{"order: bid", "preempt: suspend:5"}
	}
	return nil
}

// never is the setting of the protocols that suspend nothing.
const never = "preempt: never"

// FirstOnNodes returns the protocol of the highest rank that nodes can do, and its settings; "" = none of the row.
func (r *Row) FirstOnNodes() (protocol string, settings []string) {
	for _, rank := range r.Ranks {
		for _, p := range rank {
			if s := Settings(p); s != nil {
				return p, s
			}
		}
	}
	return "", nil
}
