package store

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"go.etcd.io/bbolt"
)

// minSize is the size of an empty database: four of the smallest pages.
const minSize = 4 * 4096

// checkDatabase reads the whole tree of a database. bbolt checks it too when it opens a file for writing, but on a
// goroutine of its own, where a truncated or overwritten file causes a panic that cannot be recovered.
func checkDatabase(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() == 0 { // create gives it its name when its tables are on disk
		return fmt.Errorf("%w: %s was emptied: %s", ErrDamaged, File, remedy)
	}
	if info.Size() < minSize {
		return fmt.Errorf("%w: %s was cut: it has %d bytes", ErrDamaged, File, info.Size())
	}
	options := options()
	options.ReadOnly, options.InitialMmapSize = true, 0
	db, err := bbolt.Open(path, 0o600, options)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := checkMetaPages(path, db.Info().PageSize); err != nil {
		return err
	}
	return db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > info.Size() {
			return fmt.Errorf("%w: %s was cut: it has %d bytes of %d", ErrDamaged, File, info.Size(), tx.Size())
		}
		if err := checkTree(path, db.Info().PageSize, tx.Size(), uint64(tx.Cursor().Bucket().Root())); err != nil {
			return err
		}
		return recoverPanic(func() error {
			return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
				return b.ForEach(func(_, _ []byte) error { return nil })
			})
		})
	})
}

// recoverPanic calls f, which reads the file, and turns bbolt's panic about a damaged page into an error.
func recoverPanic(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if why := recover(); why != nil {
			line, _, _ := strings.Cut(fmt.Sprint(why), "\n")
			err = fmt.Errorf("%w: %s", ErrDamaged, line)
		}
	}()
	return f()
}
