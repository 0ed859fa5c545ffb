// Package policies is the placement policies that a node has in use, and what they were told.
//
// Besides the node's own policy there is one for each name that jobs ask for. [Set.Get] makes a policy when it is first
// named; when there are many, those that no job needs any more are removed ([Set.Keep]), since each of them holds the
// rates of all peers and is told all news. All are told the same outcomes, in a fixed order ([Set.Note]).
//
// Of the outcomes, the columns of the allocation LP cost most: a node's rates for every class. The caller computes
// them, from what it has measured, what peers state and what it has seen of them, but only after something that they
// depend on has changed ([Set.ColumnsChanged], [Set.TakeChange]), and a column is passed on only if it is another than
// the policies have ([Set.Tell]).
//
// Nothing here calls its caller.
package policies
