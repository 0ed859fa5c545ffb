// Package store is a node's database: the records of the pure node and, beside them, small data of the driver
// (peers, calibration) behind the go-datastore interface.
//
// It is one bbolt file in the data folder. A batch of records is one transaction and one fsync, so the driver can
// run many steps, save them together, and then carry out their effects. The file is locked while the node runs;
// that lock also keeps two nodes out of one data folder.
package store
