// Package progress carries what tasks say of their progress from the node that runs them to the owner of their job, and
// whether they run at all.
//
// It rides on messages that go anyway: a worker's beat, and its answer to an offer. A task that says nothing adds
// nothing to them. Nothing is on disk, and nothing waits for it: a message that is lost is made up for by a later one.
// [Outbox] is the worker's side, [Status] the owner's.
package progress
