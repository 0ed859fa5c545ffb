// Package stdin decides which standard input the tasks of a job get from the command line, and sends it.
//
// By default it is sent if it was meant for this program: a pipe or a file that the calling process does not have as
// its own standard input. In
//
//	while read x; do skep run -- work $x; done < list
//
// the list is the loop's, not a task's: a program that read ahead in it would silently take the rest of it. ssh and
// srun do, and have -n and --input=none against it; docker run and kubectl run send nothing without -i.
package stdin
