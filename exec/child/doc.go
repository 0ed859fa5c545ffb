// Package child runs tasks as jobs of a second grid, through the API of one of its nodes.
//
// The idea: a task of the parent grid becomes a job of one task in the child grid. Its ID is drawn and on disk (the
// order) before the child hears of it, and a grid takes a submission that is repeated under an ID for the same job [1].
// So an answer that was lost, or a node that was killed, costs nothing: the job is looked for by its ID. Of one that is
// not there it must be made sure that it never comes, before the attempt may be started elsewhere: the node takes the
// ID itself, for a job that nobody can run (withdraw). If the submission that is under way comes later it is refused,
// and if it came before, the withdrawal is.
//
// The node looks at all its jobs with one request in an interval, collects the results of those that are over, and
// reads what others print as it comes. While the child does not answer its tasks are waited for.
//
// DESIGN.md has the states of an order.
//
// Sources:
//
//	[1] docs/api.md: POST /v1/jobs
package child
