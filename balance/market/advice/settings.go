package advice

// Settings are the settings with which the nodes of a grid do as a protocol does, as a line each; none = they cannot.
// Nodes have no matcher: what a protocol decides at one is decided by the owners of tasks and the order of workers.
func Settings(protocol string) []string {
	policy := "policy: " + protocol
	switch protocol {
	case "cda", "cda_res", "cda_tdb", "pda":
		// fair, the default, also shares among those who bid the same, and low bids rise
		return []string{policy, "order: bid # or fair", never}
	case "rr":
		return []string{policy, "order: fifo", never}
	case "fifo", "sjf":
		return []string{"order: " + protocol, never}
	case "psp":
		return []string{policy, "sharing: proportional"}
	case "hbp", "hbp_res":
		return []string{policy, "order: bid", "preempt: suspend:1"}
	case "hbp_t":
		return []string{policy, "order: bid", "preempt: suspend:5"}
	case "pe_p", "pe_a":
		return []string{policy, "order: bid", "preempt: migrate:1 " + moves}
	case "pe_t":
		return []string{policy, "order: bid", "preempt: migrate:2 " + moves}
	}
	return nil
}

// never is the setting of the protocols that suspend nothing, moves what a task needs to be moved.
const (
	never = "preempt: never"
	moves = "# tasks move that write checkpoints and have retries"
)

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
