// Package engines puts the engines that run tasks elsewhere than on their node's machine behind one interface: a batch
// system, a second grid.
package engines
