// Package generation finds out whether a node's data folder was put back to an earlier state: by a backup, a snapshot
// of its disk or of its machine.
//
// Such a node has forgotten what it promised and what it ran. Nothing on its own disk can tell, so others remember it:
// a node signs how far it has saved ([Statement]), and tells those that it works with ([Telling]); they keep the newest
// ([Book]) and show it to the node whenever they meet. [Start.Check] compares it with what was on the disk at the
// start. Only the node itself can sign, so nobody can make it believe that its folder was put back; a peer can keep
// silent, and then others may know.
//
// [Settling] says when a node that is the only one to keep a job has waited long enough for others to tell.
//
// The design is in DESIGN.md.
package generation
