// Package member is what a hostile member does to the nodes of a network whose secret it has: a table of attacks, each
// said again and again for as long as it is let. What the nodes make of it, package attack measures.
package member
