// Package gangs is how the owner of a gang places its ranks: all or none. DESIGN.md has the protocol.
//
// A [Gang] is the state of one gang at its owner. The owner chooses workers for all ranks ([Chooser]), asks them for
// slots, offers the ranks when all slots are kept, and lets them start when all ranks are accepted. Whatever fails
// before that, everything is given up, and after a random pause other workers are chosen. Results are held until all
// ranks have one. The coordinator carries out what follows from a change of state.
package gangs
