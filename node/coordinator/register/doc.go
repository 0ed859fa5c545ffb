// Package register is what a coordinator asks of the registers of its jobs: of each one, by [Register], and of all
// together, by [Registers]. Package replication has them, which a coordinator does not import.
package register
