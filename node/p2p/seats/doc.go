// Package seats shares a bounded number of places, of streams or of connections, between peers that may be many identities of one.
//
// The idea: while there is room, everybody gets in. When there is none, a newcomer gets the place of somebody who holds more than
// it would itself: of two networks (an address's /24, or /56 of IPv6) the one with more places gives, within one network the
// node with more, and of its places the one that was used least lately. So whoever holds little is never kept out by who
// holds much, however many identities that has at one address. Nodes that have been known for long do not give places to
// strangers, but strangers to them, until they hold all but a quarter, which strangers keep; a stranger's place that
// nobody has used for a while goes to whoever wants it.
//
// It is not kept from an attacker with addresses in as many networks as there are places: against that helps only not to give
// it the secret, or a list of nodes to talk to.
package seats
