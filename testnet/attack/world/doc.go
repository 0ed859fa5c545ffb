// Package world is what the harness of attacks and the intruder have in common: what an intruder is told about the
// machine, and what it tells about an attack. An intruder is told where everything is, so that it fails because it is
// kept out, not because it does not find the way.
package world
