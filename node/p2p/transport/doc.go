// Package transport is how bytes go to and from peers: the libp2p host, who may be connected to it, and the bounds of
// what a peer may send and hold.
//
// With each connected peer there is a session: a control stream in each direction. Frames that arrive are bounded by
// kind in size and rate, decoded, checked, and put into the inbox of the driver's loop; peers that break the rules
// are blocked for a while. Messages for a peer wait in a bounded queue. Announcements, the few messages for all, go
// over gossipsub. Other protocols, each stream with a request and an answer, are services: they say how to answer,
// and this package admits their streams, so that no peer takes the seats of others.
//
// Which nodes there are and where is the concern of package reachability, known here as Contacts.
package transport
