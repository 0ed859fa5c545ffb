// Package admission does admission control of a bounded number of streams or connections (seats) between peers, many of
// which may be identities of one attacker.
//
// While seats are free, everybody gets one. When none is, a newcomer gets the seat of a peer that holds more than
// the newcomer would: of two networks (an address's /24, or /56 of IPv6) the one with more seats gives, within one
// network the node with more, and of its seats the least recently used. So a peer that holds few is never kept out
// by one that holds many, however many identities that has at one address. Familiar nodes, which have been known
// for long, do not give seats to strangers, but strangers to them, until familiar nodes hold all but a quarter,
// which strangers keep; a stranger's seat that has not been used for MaxIdle goes to any newcomer.
//
// An attacker with addresses in as many networks as there are seats is not kept out: against that helps only to
// keep the secret from it, or an allow-list of nodes.
package admission
