// Package joblist is a list of jobs in the API: what a request selects, and a job of another node as every member may
// see it.
package joblist
