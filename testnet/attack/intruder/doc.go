// Command intruder is a task that attacks the node that runs it, its neighbours and the machine: one function for each
// attack, in tables by what is attacked. Each runs in a process of its own, does no harm where it succeeds, and says
// how it went.
//
//	intruder list              prints the table
//	intruder run NAME…         runs attacks
//	intruder sibling …         is a task that is attacked
//	intruder bystander …       is a process of the node's user that is attacked
package main
