// Package membership chooses the members of a new job's register: this node, to which the job was submitted, and two or
// four others.
//
// The choice is final. Once any node knows the job its members are fixed, since two sets of members could each have a
// majority. So a submission is pending, and neither on disk nor known elsewhere, until enough nodes have answered a
// keepalive just now. The first ones probed are spread over the failure domains (labels host, rack and zone); if they
// are silent, whoever has answered is taken. Nodes that have said that they have no room for the job are left out.
//
// The register gets fewer members than configured if too few nodes are connected and no more are expected, or if too
// few have answered after Config.Confirm. If not even two others have, though there are some, the submission fails.
//
// Submissions that wait are many where a client submits many jobs at once, or before the first peer is connected. What
// does not suffice for the oldest does not for the others, and the answer of a node is looked at only for those that
// wait for that node, so each costs the same however many there are.
//
// Nothing here calls its caller. Probes, timers and refusals are appended to the effects; jobs whose members are chosen
// are returned, to be created in that order.
package membership
