// Package checkpoint moves the files of checkpoints out of the folder of an attempt, where its program has written
// them, to where the node takes them from.
//
// A program writes the files of checkpoint K into the folder state/K of its work folder, and then says that it is
// closed (package exec/progress). From then on it is the node's: it is renamed to a folder beside the work folder,
// which takes no time and nothing of the program, and older ones that were left in state are removed. A program that is
// killed while it writes has not said so, and what it has written is never looked at.
//
// Everything in the folder of an attempt is under the task's control, so no link is followed out of it.
package checkpoint
