// Package store is a node's database: the records of the pure node and, beside them, small data of the driver
// (peers, calibration) behind the go-datastore interface.
//
// It is a bbolt file in the data folder, and a log (package wal) of the commits that are not in it yet. A batch of
// records is one record of the log and one sync, so the driver can run many steps, save them together, and then carry
// out their effects. The database is locked while the node runs; that lock also keeps two nodes out of one data folder.
package store
