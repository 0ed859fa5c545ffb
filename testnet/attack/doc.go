// Package attack tries what docs/trust.md says that a task cannot do. It starts a node of the built program, with a
// task of somebody else on it and with secrets planted around it: files, sockets, a terminal, a process of the node's
// user. Then it submits an intruder, a program with some hundreds of attacks, and looks from outside what came of each.
//
// An attack succeeds if the intruder got what it wanted, or if what it left behind is found when its attempt is over.
// At the level basic or above none may succeed; at none each that does is told. A node without boxes shows that the
// attacks are real: most of them succeed there.
package attack
