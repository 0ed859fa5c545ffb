// Package progress shows on the error stream how far long work is.
//
// On a terminal it is one line, the last one, that is drawn again in its place: nothing else on the screen moves, no
// cursor is hidden, and no colour is used. It makes way for what is printed on the same terminal, and comes back when
// that is quiet and at the beginning of a line. In a file, or a socket as a service's journal has, it is a line now and
// then. Elsewhere, as in a pipe, it is nothing.
//
// The line is drawn by github.com/vbauerster/mpb.
package progress
