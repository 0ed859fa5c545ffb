package net

// obsoleteKnobs were knobs of the last version, by section. A file may still have them: their values are not looked at,
// and the scenario lists them. cmd/skep/DESIGN.md says why each went.
var obsoleteKnobs = map[string][]string{
	"node":    {"keep", "overdue", "poll_cap", "poll_floor", "window"},
	"balance": {"kpb"},
	"gossip": {"backlog_scale", "decay", "exchange", "far", "forget", "hold", "look", "min_gap", "target",
		"theta"},
	"discovery": {"burst", "call_delay", "call_gap", "call_hold", "call_max", "call_wait", "keys", "meeting", "rate",
		"searches", "seen", "seen_max"},
}
