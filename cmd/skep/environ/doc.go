// Package environ reads what a task is to find around it, from flags and job files: its environment variables, some of
// them those of the submitter, and the folders of the node's machine in which it starts and is at home.
package environ
