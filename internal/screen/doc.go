// Package screen is a terminal for tests: a pseudo-terminal, a program at it, and what a person would see on it.
//
// Its screen is one of two. [Lines] knows what a program needs that draws one line again in its place, and no more of
// ECMA-48: all else is a fault, as a sequence that clears the screen, moves the cursor to a place of it, or hides it.
// An emulator of a whole terminal is for programs that take all of it.
package screen
