// Package worker is the attempts that this node has accepted: whose they are, when they start, and what became of them.
//
// An owner offers an attempt. The worker accepts it into its queue, or refuses it and says why. It starts the attempt
// when the machine has room and the attempt has a start lease, sends beats to its owner while it is here, and keeps its
// result, or that it gave the attempt back before it started, until the owner has acknowledged it. Which node owns a
// replicated job changes; the worker follows what the register's members say, if a majority of them agrees.
//
// The attempts of this node's own jobs come and go by the same messages: its caller delivers what the node sends to
// itself. Only what an owner and a worker on one machine cannot lose is left out: beats, and a copy of the result on
// disk.
//
// The package never calls its caller. [Worker.News] has what others must know.
package worker
