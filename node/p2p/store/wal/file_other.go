//go:build !linux

package wal

import "os"

// syncData syncs a file.
func syncData(f *os.File) error { return f.Sync() }

// dropPages is for Linux.
func dropPages(*os.File) {}
