// Package slurm runs tasks as batch jobs of a Slurm cluster, from a host that may submit them.
//
// The idea: a task is a folder that the compute nodes see too. The node writes there what to run (the order) and hands
// Slurm a batch job whose name says which attempt it is. On a compute node the job is this program once more (RunStep):
// it claims the order, runs the command, keeps the output in files and writes down how it ended. The node looks at all
// its jobs with one call of squeue in an interval, and collects the end.
//
// What must hold is that no order is run twice and none is lost, whatever is killed and whichever answer of Slurm does
// not come. A claim is the hard link of a file to a name that it can have once: a batch job runs its order only if the
// claim is its own. The node claims orders also, namely those that shall not run any more: the claim then says for
// certain that the order has not run and never will, though a batch job of it may still come. Nothing else is trusted
// for that, neither an exit code of sbatch nor the absence of a job from a list.
//
// A node that is killed finds orders, claims and ends in the folders, and the jobs by their names: Former.
//
// Files of package slurm are small and closed before they get their names, so that file systems which are coherent from
// close to open, as NFS, suffice. DESIGN.md has the states of an order.
//
// Sources:
//
//	[1] sbatch(1), squeue(1), scancel(1), sinfo(1) of Slurm 22.05
//	[2] open(2), on O_EXCL and NFS: link(2) to a unique file is the lock that works everywhere
package slurm
