// Command skep-attack tries on real nodes what docs/trust.md says that a task cannot do: as the user that runs it, as
// root also as another user, and in containers; with the kernel's Landlock and with older versions; and, to show that
// the attacks are real, without boxes. It prints what became of each attack, and fails if one succeeds at the level
// that the node claims.
package main
