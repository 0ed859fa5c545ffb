// Package forwarding measures how requests find who can meet them: the real discovery of every node, and nothing
// else of a node, with messages that take a while in virtual time.
//
// Nodes stand on an overlay of a ring and random edges. Resources of many types lie on them evenly or in few hands,
// requests come for all types alike or mostly for some, and each goes from node to node as the strategy says. It is
// as fast as discovery itself, so that a hundred thousand nodes can be tried; what a task's acceptance, ads, and
// faults do to it is for package net, which runs whole nodes.
//
// Sources, cited by number:
//
//	[1] A. Iamnitchi, I. Foster, On fully decentralized resource discovery in grid environments,
//	    GRID 2001, LNCS 2242: the strategies, the distributions of resources and of requests.
package forwarding
