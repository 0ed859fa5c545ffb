// Package record keeps what a live node was told, and replays it.
//
// The central idea is that a node is a pure state machine: its configuration, the records that it was given
// back and its events are all that decides what it does. A recording holds these, and after each event a digest of
// what the node did and a line that says it for people; a replay feeds a new node the same events and stops
// at the first step that does something else.
//
// A recording is the line "skep recording 1" and then frames, each a length as an unsigned varint and so
// many bytes, at most [MaxFrame]: first the header as JSON, then items of one gob stream: records in the order in
// which they were restored, then steps. A recording that was cut off, as by a crash, is replayed to its last
// whole frame. It holds what jobs were given, arguments and environment included.
package record
