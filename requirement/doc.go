// Package requirement parses and evaluates what a job requires of a node, what it would rather have, and what a node
// requires of a job: the two sides of a match, and the rank, of classified advertisements [1].
//
// An expression is a line of the language of github.com/expr-lang/expr, as far as this package knows it: attributes
// of the node, of the job and of the time, numbers, texts, comparisons, arithmetic, logic. It has no loops, no
// variables and no regular expressions, so that the steps of an evaluation are at most its nodes. Package expr only
// parses it. Its evaluator has no missing values, and it allocates in each evaluation; there is one for each node that
// a task could go to.
//
// Logic has three values, as in [1]: what is not known makes a comparison Unknown, and Unknown makes of a conjunction
// and of a disjunction what it would if it were either of True and False.
//
//	[1] R. Raman, M. Livny, M. Solomon: Matchmaking: distributed resource management for high throughput computing.
//	    HPDC-7, 1998.
package requirement
