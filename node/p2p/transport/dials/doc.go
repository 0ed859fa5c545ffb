// Package dials bounds the dials to addresses that other members reported.
//
// A node signs the addresses in its ad, which proves who states them and not that the node is there: a member can
// sign for as many made-up nodes as it likes, with anybody's addresses. So an address counts as unproved until a
// member has answered at it and proved its identity. Dials to unproved addresses are bounded in all, for each host,
// and for each member that reported them: an attacker who wants a third party to be dialled, or its ports to be
// scanned, gets a few dials a minute, whatever it makes up. A host where members have been seen has a higher bound,
// for there may be more of them. Loopback and link-local addresses, which mean another machine to each node, are
// not dialled on a report.
//
// Addresses that an operator names, and proved ones, are not bounded here: the dialer spaces its tries.
package dials
