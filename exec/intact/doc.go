// Package intact tells whether the files that a node has made for an attempt are still there, and whether an error of
// the file system is the machine's and not the task's.
//
// A cleaner of temporary files, or a person, may remove the folder of an attempt, or empty it, at any time. What a
// task then does not find, or does not leave, says nothing about the task. [Files] remembers what was put there. As
// long as nothing of the task has run, whatever is missing was taken away. Afterwards the task may have removed its
// inputs itself: then only the folder that it was given counts, which in a box it cannot remove.
package intact
