// Package pull moves waiting work to idle nodes: receiver-initiated load sharing.
//
// Where a task is placed rests on estimates, and estimates are wrong at times. So no node stays idle while work waits
// elsewhere that it fits. A node with waiting work says so in its ad, and tells a few idle nodes of its view at once
// (KindWaiting). An idle node asks a few nodes where work waits for a task (KindPull), and backs off from those that
// have none for it; it is silent where nobody in its view has work waiting. Who is asked gives one task: one that waits
// for its placement, or one that waits in its worker's queue, which goes back to its owner as never started, with the
// name of the node that asked; the owner offers it there.
//
// Who has nothing for the node that asks says so at once (KindNoWork), so that it asks another. A node is given tasks
// for no more cores than it states, until it may be done with them; one that says that work waits there, and gives
// none, is heeded less and less often.
//
// A task in a queue is given away if it would end sooner there, or if it has waited half as long again as was
// predicted.
//
// Sources:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009: LPAS_DG, where idle machines take work.
package pull
