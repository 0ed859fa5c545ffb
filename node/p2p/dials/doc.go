// Package dials bounds the connections that a node tries to make because others say that somebody is there.
//
// The idea: what a node says of its own addresses is signed by it, which proves who says so and not that it is there: a
// member can sign for as many nodes as it likes, with addresses of anybody's. So an address counts for nothing until a
// member has answered at it and proved who it is. Tries at addresses where none has are bounded in all, for each host,
// and for each member that told of them: an attacker who wants a third party to be knocked at, or its ports to be found
// out, gets a few tries a minute, whatever it makes up. A host where members live has more ports that are worth a try
// than another one, for there may be more of them. Addresses that mean another machine to each, of the loopback and of
// one link, are not dialled because somebody elsewhere says so.
//
// What an operator names, and what has answered, is not bounded here: the dialer spaces its tries.
package dials
