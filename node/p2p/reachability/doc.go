// Package reachability is which nodes there are, at which addresses, and how to stay connected to them.
//
// Contacts are the nodes that tokens, the local network, other members' ads, or the disk name; they are kept in
// bounds, with who reported what. The dialer keeps connections to neighbours, and to anybody while there are few, for
// ever and with growing back-off. In the other direction the node finds out whether peers can dial it: it asks those
// that it has dialled to dial back, takes relays among them if they cannot, and publishes the addresses at which it
// can be reached. A relayed connection is replaced by a direct one where that is possible.
//
// DESIGN.md of package p2p says why AutoNAT and AutoRelay are off, with measurements.
package reachability
