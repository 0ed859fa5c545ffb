// Skep is the one binary of the grid: `skep up` runs a node, every other verb talks to the node in the data folder
// through its local API listener. Each verb has a file of its own.
package main
