// Package mesh carries the packets of a gang's virtual network between the nodes that run its ranks: one long-lived
// stream for each two nodes and attempt.
//
// The idea: a node that has ranks of an attempt joins it with the device of package network and the list of which node
// has which rank, as the job's owner told it. Each two of these nodes keep one stream while both are in, opened by the
// one with the lesser ID and opened again when it breaks. Packets go as they are, each behind its length; TCP in the
// pods does what makes a stream of them. A packet is taken only from the node that has its source and only for a rank
// here, so a member can neither speak for another nor reach more than the ranks of that attempt. DESIGN.md of package
// network says why so.
package mesh
