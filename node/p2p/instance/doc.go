// Package instance finds out whether another process has this node's identity, as after its data folder was copied, and
// decides which of the two goes on.
//
// Each process draws an instance number when it starts and tells it in its hello. A peer that is connected to one
// instance and hears of another with the same identity is a witness: it tells the newcomer so, and forwards to the
// other a challenge that the newcomer drew. The other one signs the challenge with the key that both have. So no peer
// can make a node believe in a copy of it: it would have to have the key. The same goes the other way round, since the
// other one learns by the challenge of the newcomer.
//
// Both compare how long they have run and come to opposite conclusions: the one that began later stops, without
// announcing that the node leaves.
package instance
