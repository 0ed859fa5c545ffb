// Package external has what the engines have in common whose tasks another system runs, as a batch system or a second
// grid: files that survive a crash, the tasks that are looked after, and when to look next.
//
// The idea: such a task is a folder with an order, on disk before the other system hears of it. The node only looks
// after it: it can be killed meanwhile, and finds the orders when it starts again. A task that is found again is taken
// over by its attempt (Adopt) or, where nobody wants it any more, ended (Abandon).
package external
