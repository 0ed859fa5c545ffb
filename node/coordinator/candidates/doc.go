// Package candidates decides which nodes a task may be offered to, and keeps what placement decisions about it have
// asked and heard.
//
// A [Task] is what was learnt of nodes while a task is placed: who refused it, failed it or lost it, who pulled it in
// vain, whether it was reclaimed or demoted. From it and from what is known of the nodes (package peers) follow the
// candidates, in steps: if nobody is left, those that are avoided for this task count too, then those on the blacklist,
// of which one is tried. A [Poll] is the questions of one decision; answers count once, and only those of its last
// round. Invariant: who is waited for was asked in this decision, and has not answered.
package candidates
