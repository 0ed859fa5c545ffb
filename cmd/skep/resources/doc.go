// Package resources is what the command line and the files of users say of counted resources, as GPUs, and of
// processors of a task's own: flags, keys, settings, and texts for people.
package resources
