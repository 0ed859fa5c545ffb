// Package oracle says what must never happen in a simulated grid, and sees that it does not.
//
// [Books] are the simulator's own record of every submission: what was told to clients, what every node's disk holds,
// which attempts run where. The world reports each event as it takes place (a record became durable, an attempt
// started, a message left, a client was answered), and the books check it against what is known before they take it
// up; the same tables give a restarted node its records back. A violation goes to [World.Fail], with the node and a
// sentence. What must happen in the end is checked from [Books.Settle] on.
//
// The rules are in sim/DESIGN.md. Only durable state counts: what a crash may still undo has not happened.
package oracle
