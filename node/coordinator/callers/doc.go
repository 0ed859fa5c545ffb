// Package callers is the local callers that wait for what becomes of a job: that it is cancelled, that some of its
// tasks are, or that they are run again. Each is answered once, when what it asked for is committed to the job's
// register, or when this node does not decide about the job any more.
package callers
