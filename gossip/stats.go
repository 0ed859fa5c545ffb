package gossip

// Stats are counts since New.
type Stats struct {
	Emitted    uint64 // own ads, refreshes included
	Digests    uint64 // sent
	Ads        uint64 // entries in them
	Heard      uint64 // entries received
	News       uint64 // of these, newer than what was known
	Repeated   uint64 // of these, not newer
	Forwarded  uint64 // news that the rule forwarded
	Suppressed uint64 // news that it did not
	Expired    uint64 // nodes removed because no ad came
	Evicted    uint64 // nodes removed for more useful ones
	Replaced   uint64 // neighbours that were replaced

	Dropped Dropped
}

// Dropped counts what was received and not used, by reason.
type Dropped struct {
	Bad    uint64 // no ad, or one without an origin
	Excess uint64 // beyond the bound of a digest
	Own    uint64 // this node's own ad
	Clone  uint64 // an ad in this node's name that it did not make in this run
	Gone   uint64 // of a node that has left
	Full   uint64 // the view is full of more useful nodes
	Quota  uint64 // its sender has brought too many unknown nodes recently
}
