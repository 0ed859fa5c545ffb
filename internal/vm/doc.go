// Package vm runs a test binary in a virtual machine, for tests of what the kernel of a test's own machine lacks, such
// as control groups of the second version, or of shares of processors that nothing else uses.
//
// The machine has two processors, which qemu emulates: its clocks and processor times go together, but it is an order
// slower. It has the binary, busybox, and no disk and no network; all of its files are in memory.
package vm
