// Package clock is the clock of a live node: monotonic, and on Linux it continues while the machine sleeps, so that
// leases run out then too.
package clock
