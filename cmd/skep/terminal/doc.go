// Package terminal makes the terminal that a person sits at that of a program on another machine: its keys go there as
// bytes, those that are signals here too, its size is told there when it changes, and it is given back as it was
// however skep ends.
package terminal
