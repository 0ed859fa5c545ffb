// Package reliability decides what is done beforehand about the loss of a task: nothing, a further run once it is lost,
// or a copy that runs beside it.
//
// Each technique is a set of courses that the task may take, with the probability of each, what its result is worth to
// the submitter, the node-seconds that it costs, and when it is done. A heuristic makes one number of a course, and a
// technique is as good as the mean over its courses. Three heuristics are those of [1, Table 7.1]. They divide what is
// gained by what is spent, so a result and a half that costs more is never preferred to one; or they leave out what is
// spent, and take a copy wherever it gains anything. The fourth, [grid.ReliabilityAuto], takes both in node-seconds: a
// copy is run if it saves more than it takes.
//
// Departures from [1]: a run and the one that follows it may both be lost; a lost run is noticed late, by its lease;
// the nodes of two runs differ in speed and in risk; and no value is offered for a technique: it is one for the
// result, which falls with the deadline of the job.
//
// Sources:
//
//	[1] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack Problem on
//	    Computational Grids, PhD thesis, University of Victoria, 2008: chapter 7.
package reliability
