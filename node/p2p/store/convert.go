package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"

	"skep/grid"
	"skep/node/p2p/disk"
	"skep/node/p2p/store/sums"
	"skep/node/p2p/wire"
)

// CopyFile is the name in the data folder of the database as it was before it was converted from format 1.
const CopyFile = File + ".before-v2"

// Conversion is what Open has converted from format 1.
type Conversion struct {
	Jobs, Tasks int    // that have a register and entries now
	Dropped     int    // records of tasks of no job
	Copy        string // path of the database as it was before
	Took        time.Duration
}

// Converted returns what Open has converted; nil if the database was not of format 1.
func (s *Store) Converted() *Conversion { return s.converted }

// RemoveCopy removes the copy that a conversion of a data folder's database has left, if there is one. Whoever calls it
// will not go back: the node has run with the converted database and was stopped in order.
func RemoveCopy(dir string) error {
	err := os.Remove(filepath.Join(dir, CopyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return explain(dir, err)
}

// convert converts a database of an earlier format. A crash leaves it as it was, or converted; one of format 1 has a
// copy beside it then.
func (s *Store) convert() error {
	var need grid.Bytes
	var was uint64
	err := s.db.View(func(tx *bbolt.Tx) error {
		was = formatOf(tx)
		if was < registerFormat {
			need = spaceToConvert(tx)
		}
		return nil
	})
	switch {
	case err != nil || was == format:
		return err
	case was >= registerFormat:
		change := addSums
		if was >= sumFormat {
			change = addLog
		}
		if err := s.db.Update(change); err != nil {
			return fmt.Errorf("convert %s to format %d: %w", File, format, err)
		}
		return nil
	}
	// A copy made by a conversion that did not happen may be older than the database.
	if err := os.Remove(filepath.Join(s.dir, CopyFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if free, err := disk.Free(s.dir); err == nil && free < need {
		return notConverted(need, fmt.Errorf("%w: %s are free", syscall.ENOSPC, mebi(free)))
	}
	if err := s.copyAndUpgrade(); err != nil {
		return notConverted(need, err)
	}
	return nil
}

// copyAndUpgrade makes the copy, and then replaces the records in one transaction.
func (s *Store) copyAndUpgrade() error {
	start := time.Now()
	c := &Conversion{Copy: filepath.Join(s.dir, CopyFile)}
	if err := s.copyTo(c.Copy); err != nil {
		return err
	}
	err := s.db.Update(func(tx *bbolt.Tx) error {
		if err := upgradeRecords(tx.Bucket(recordBucket), c); err != nil {
			return err
		}
		return addSums(tx)
	})
	if err != nil {
		os.Remove(c.Copy) // the database is as before
		return err
	}
	c.Took = time.Since(start)
	s.converted = c
	return nil
}

// The first formats in which every job has a register, and in which entries have sums.
const (
	registerFormat = 2
	sumFormat      = 3
)

// addLog makes format 4 of format 3: the table meta says that no log is in use. A version without one refuses the
// database, since it would not read what the log holds.
func addLog(tx *bbolt.Tx) error { return setFormat(tx, openRecords(tx).digest) }

// addSums makes format 4 of format 2: the values of the table data get sums, and the table of records its digest. A
// record gets its sums when it is written next: few are left after some days, and no start has to write them all.
func addSums(tx *bbolt.Tx) error {
	data := tx.Bucket(dataBucket)
	var fixes []fix
	if err := data.ForEach(func(key, value []byte) error {
		fixes = append(fixes, fix{old: bytes.Clone(key), key: bytes.Clone(key), value: sums.Append(nil, key, value)})
		return nil
	}); err != nil {
		return err
	}
	for i := range fixes {
		if err := fixes[i].apply(data); err != nil {
			return err
		}
	}
	var d digest
	if err := tx.Bucket(recordBucket).ForEach(func(key, stored []byte) error {
		d.count++
		d.sum += sums.SumOf(key, stored)
		return nil
	}); err != nil {
		return err
	}
	return setFormat(tx, d)
}

// notConverted returns the error of a conversion that was not made; need is the disk space that it may take.
func notConverted(need grid.Bytes, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("to convert %s to format %d takes up to %s, and nothing was changed: %w",
			File, format, mebi(need), err)
	}
	return fmt.Errorf("convert %s to format %d: %w", File, format, err)
}

func mebi(b grid.Bytes) string { return fmt.Sprintf("%.1f MiB", float64(b)/float64(grid.MiB)) }

// spaceToConvert returns a bound of the disk space that a conversion takes: the copy, and the pages of new records,
// since those of the old ones are free only after the transaction. A new record takes at most 5/2 of the old one with
// what its page leaves free; that is the register of a job whose specification is small.
func spaceToConvert(tx *bbolt.Tx) grid.Bytes {
	const slack = 64 << 10 // of pages in which new records lie beside others, and of branches
	need := tx.Size() + slack
	cursor := tx.Bucket(recordBucket).Cursor()
	for key, value := cursor.First(); wire.Legacy(key); key, value = cursor.Next() {
		need += int64(len(key)+len(value)+elementSize) * 5 / 2
	}
	return grid.Bytes(need)
}

// copyTo writes the database as it is to a file of another name, complete and on disk.
func (s *Store) copyTo(path string) error {
	return disk.Replace(path+".new", path, func(f *os.File) error {
		return s.db.View(func(tx *bbolt.Tx) error {
			_, err := tx.WriteTo(struct{ io.Writer }{f}) // by writes alone, which package crash records
			return err
		})
	})
}

// upgradeRecords replaces the records of format 1. Jobs come before tasks, as their keys do. Invariant: an entry has a
// register. So the record of a task whose job has none is dropped: no version ever used such a record. Neither was one
// used whose index the job does not have; as an entry it could be taken for the job's cancellation.
func upgradeRecords(b *bbolt.Bucket, c *Conversion) error {
	b.FillPercent = 0.9 // the new records come in the order of their keys
	counts := make(map[grid.JobID]uint32)
	var records []grid.Record
	cursor := b.Cursor()
	for key, value := cursor.First(); wire.Legacy(key); key, value = cursor.Seek(key) {
		var err error
		key = bytes.Clone(key)
		if records, err = wire.UpgradeRecord(records[:0], key, value); err != nil {
			return unreadable(err)
		}
		if err := b.Delete(key); err != nil {
			return err
		}
		if g := &records[0].Register; records[0].Kind == grid.RecRegister {
			counts[g.ID] = g.Spec.Count
			c.Jobs++
		} else if id := records[0].Entry.ID.Task; id.Index < counts[id.Job] {
			c.Tasks++
		} else {
			c.Dropped++
			continue
		}
		for i := range records {
			newKey, newValue, err := wire.AppendRecord(nil, &records[i])
			if err == nil {
				err = b.Put(newKey, newValue)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
