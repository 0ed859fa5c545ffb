// Package outputs finds the files in a task's folder that match patterns. Everything in there is under the task's
// control: no link is followed, and neither the number of entries nor the depth of folders costs more than is bounded.
package outputs
