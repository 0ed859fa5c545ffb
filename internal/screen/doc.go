// Package screen is a terminal for tests: a pseudo-terminal, and what a person would see on it.
//
// It knows what a program needs that draws one line again in its place, and no more of ECMA-48. All else is a fault: a
// sequence that clears the screen, moves the cursor to a place of it, or hides it.
package screen
