// Package ports carries TCP connections between the ranks of a gang on the few ports that its job names, without a
// device for packets: so ranks reach each other on nodes that can make no TUN device.
//
// The idea: a node tells the others of an attempt on which of these ports its ranks listen. Each of them listens in
// their place, in the network that its own ranks share, at the same addresses and ports, and carries each connection
// over a stream of its own to the node of the rank, which connects to it. So a connection to a port on which nobody
// listens is refused, as on any network, and one to a port that is not named never gets out of its pod. A node serves
// only nodes of the attempt, for ranks that are theirs and its own. DESIGN.md of package network says what that costs
// beside packets.
package ports
