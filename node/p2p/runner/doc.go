// Package runner runs the attempts that a node has accepted, and keeps the files that they need and make.
//
// The driver's loop hands over what a step wants of attempts: Start, Stop, Fetch, and each record that is on disk
// (RecordSaved), which decides what is pinned. An attempt has a goroutine from its start to its end: it prepares a
// work folder with the inputs, starts the process in its box, waits, and collects what it printed and made into
// blobs. What happens comes back as events through Loop. Files of other nodes are fetched from peers, each once and
// from one peer after the other, and served to them, by the streams that Peers opens and the driver accepts.
//
// While tasks run, the disk monitor measures their folders and ends those that leave the node too little space for
// its records. DESIGN.md of package p2p has the bounds.
package runner
