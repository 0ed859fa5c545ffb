// Package instance finds out whether another process has this node's identity, as after its data folder was copied, and
// decides which of the two goes on.
//
// Each process draws an instance number when it starts and tells it in its hello. A peer that is connected to one
// instance and hears of another with the same identity is a witness: it tells the newcomer so, and forwards to the
// other a challenge that the newcomer drew. The other one signs the challenge with the key that both have. So no peer
// can make a node believe in a copy of it: it would have to have the key. The same goes the other way round, since the
// other one learns by the challenge of the newcomer.
//
// Both compare their standing, and for how long they have had it, and come to opposite conclusions: the later one
// stops, without announcing that the node leaves. No wall time is compared. One that has not begun is later than one
// that has; one that has met no peer yet is later than one that a peer knows, so that a copy that ran where it reached
// nobody does not stop the node that the network knows.
package instance
