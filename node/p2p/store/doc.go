// Package store keeps on disk what a node must not forget: the records of the pure node and, beside them,
// the driver's own small things (peers, calibration) behind the go-datastore interface.
//
// The idea is one bbolt file in the data folder. A batch of records is one transaction and one fsync, so the
// driver can run many steps, save them together, and then let their effects go. The file is locked while the
// node runs; that lock is also what keeps two nodes out of one data folder.
package store
