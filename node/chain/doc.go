// Package chain is who signed what of a job: the chain of signatures from the job's origin to how each task has ended.
//
//	origin      signs  the job, its specification and the first members of its register
//	members     sign   who owns an epoch: a majority of them votes; and a change of the members, a majority of both
//	owner       signs  each assignment: which attempt of which task goes to which worker
//	worker      signs  how that attempt ended, and the hashes of what it left
//	owner       signs  the end of a task that no worker ended: lost, cancelled, nobody can run it
//
// Whoever has the job's ID, and so its origin's key, can check all of it, whoever gave it to him. Each statement has a
// context of its own and names the job by the hash of what its origin signed, so that no signature stands for anything
// else. See DESIGN.md.
package chain
