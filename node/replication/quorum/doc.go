// Package quorum says which members of a register decide, while one of them is replaced too.
//
// A register begins with the members that its origin chose: membership number 0. The owner replaces one at a time, and
// each change has the next number. A change is not settled until a majority of the members before it and one of the
// members after it hold the new membership and every entry that was written before it; until then whatever is decided
// takes both majorities. From then on the members after it decide alone. ../DESIGN.md has why that is safe.
//
// [Set] is what one member knows of that: a value, without time and without messages.
package quorum
