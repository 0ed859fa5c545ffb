// Package gang reads what a job file says of a gang: how many ranks, and by what their nodes are chosen.
package gang
