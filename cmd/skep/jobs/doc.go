// Package jobs is what skep job list selects: the flags, their values, and the pages of a list.
package jobs
