// Package reputation keeps what a node has itself seen of others. A node that says it is fast and idle gets little
// until it has delivered, and then its results replace what it says.
//
// [Records] are the track records of workers: attempts outstanding, results, actual against expected times. They say
// whom to give more, what to believe of a stated completion time or rate, and which attempt is a straggler.
// [FailureLog] counts how tasks of each class ended at each node. A node that fails a class which others run is on that
// class's [Blacklist], with back-off; then one task probes it. [Received] is the work that a peer has given to this
// node, and bounds how many arrivals of that peer's are believed.
//
// Nothing here rests on a statement, and nothing calls its caller: expected run times are arguments, and that the
// allocation may have changed is fetched with TakeChange. ../coordinator/DESIGN.md has the rules and their reasons.
package reputation
