// Package history packs the history of a task: what was decided about it, when, and why.
//
// A grid keeps the histories of hundreds of thousands of tasks, and people read few of them. So the entries are packed
// one by one: those of a task that ran at once take some 20 bytes.
package history
