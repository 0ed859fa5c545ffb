// Package mapping is the mapping events of batch policies at the owner of jobs [1, section 3.2].
//
// At an event a batch policy maps all tasks that wait at this owner, of any job, together: the meta-task. What begins
// before the next event can come is offered; what does not has not begun then, waits here, and is mapped again with
// what has come meanwhile. So nothing has to be taken back from a worker.
//
// An event comes when tasks have come or ended or nodes have changed, no sooner than an interval after the last, unless
// more tasks than a count have come; and without news when the first of those that wait should be sent. [Events] says
// when, [Poll] is the questions of an event and their answers, [MetaTask] makes the table that the policy maps by. The
// coordinator collects the tasks and offers them.
//
// Sources:
//
//	[1] M. Maheswaran, S. Ali, H. J. Siegel, D. Hensgen, R. F. Freund, Dynamic Mapping of a Class of Independent Tasks
//	    onto Heterogeneous Computing Systems, Journal of Parallel and Distributed Computing 59, 1999.
package mapping
