// Package turns is a queue of jobs that take turns by an order (package order): of one line the job that came first,
// and the line whose turn it is. A job stays in the queue while tasks of it wait for their placement; each that is
// placed counts as use.
package turns
