package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"go.etcd.io/bbolt"

	"skep/node/p2p/store/wal"
)

// LogFile is the name in a data folder of the log of what is not in the database yet.
const LogFile = "skep.log"

// LogDraft is what a crash leaves of a log that is being created.
const LogDraft = LogFile + wal.NewSuffix

// Bounds of the log. What it holds is in memory too, and is put into the database at once, while commits wait: a larger
// log makes that wait longer, a smaller one puts more into the database that would have been written again or deleted.
const (
	logSectors = 512 << 10 / wal.SectorSize
	// A larger commit goes straight to the database: two syncs for so much cost less than writing it twice.
	maxLogged = 128 << 10 // bytes of its changes

	// Entries that commits of one generation delete in runs: a run is a few bytes in the log, and each of its entries is
	// work for whoever takes over. A run beyond that goes to the database with its own commit.
	maxFurther = 4096
)

// recordLog is the log of a store, and what it holds. Invariant: what was committed is in the database, or in the log
// under the generation that the database states, and then in the table too.
type recordLog struct {
	mu    sync.Mutex // held by a commit
	file  *wal.Log   // nil until the first commit
	info  os.FileInfo
	state logState
	table table
	count uint64 // commits in this generation of the log
	torn  bool   // a flush failed, so the database on disk may state the next generation already
	none  bool   // the store was opened without it
}

// begin makes the log a part of the database, at the first commit after a start; the file is made if there is none.
func (s *Store) begin() error {
	if s.log.state.inUse {
		return nil
	}
	path := filepath.Join(s.dir, LogFile)
	f, err := wal.Open(path, logSectors)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, wal.ErrDamaged) { // it is of no consequence now
		if err = wal.Create(path, logSectors); err == nil {
			f, err = wal.Open(path, logSectors)
		}
	}
	if err != nil {
		return err
	}
	newest, err := f.Newest() // where the database was put back from a copy, generations were used already
	state := logState{generation: max(newest, s.log.state.generation) + 1, inUse: true}
	if err == nil {
		err = s.db.Update(state.save)
	}
	if err == nil {
		err = s.useLog(f, state)
	}
	if err != nil {
		f.Close()
	}
	return err
}

func (s *Store) useLog(f *wal.Log, state logState) (err error) {
	if s.log.info, err = f.Stat(); err != nil {
		return err
	}
	s.log.file, s.log.state, s.log.count = f, state, 0
	return f.Begin(state.generation)
}

// logChanges makes the changes of a commit durable: with one sync, in the log, where that can hold them, else in the
// database. A log for which the disk has no space is no reason to fail while the database has some.
// further is how many entries the changes delete beside those that they name.
func (s *Store) logChanges(changes []byte, further int) error {
	if len(changes) > maxLogged || s.log.table.further+further > maxFurther || s.log.torn {
		return s.flush(changes, s.log.state.inUse)
	}
	err := s.begin()
	if err == nil && !s.log.file.Fits(len(changes)) {
		err = s.flush(nil, true)
	}
	if err == nil {
		err = s.log.file.Append(changes)
	}
	switch {
	case err == nil:
		s.log.count++
		return s.log.table.add(changes)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, wal.ErrFailed):
		return s.flush(changes, s.log.state.inUse)
	}
	return err
}

// flush puts what the log holds into the database, and then further changes, in one transaction, and with that begins
// the log anew, or ends its use.
func (s *Store) flush(changes []byte, inUse bool) error {
	next := logState{generation: s.log.state.generation + 1, inUse: inUse}
	err := recoverPanic(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			r := openRecords(tx)
			err := s.log.table.write(r)
			if err == nil {
				err = eachChange(changes, r.apply)
			}
			if err == nil {
				err = next.save(tx)
			}
			if err == nil {
				err = r.save()
			}
			return err
		})
	})
	s.log.torn = err != nil
	if err != nil {
		return err
	}
	s.log.state, s.log.count = next, 0
	s.log.table.clear()
	if s.log.file != nil {
		return s.log.file.Begin(next.generation)
	}
	return nil
}

// replay takes over what the log of a node that was not stopped in order holds. A crash meanwhile changes nothing: the
// transaction that has it all states the next generation.
func (s *Store) replay() error {
	if err := s.loadLogState(); err != nil || !s.log.state.inUse {
		s.saved.open(&s.log.state, 0)
		return err
	}
	f, err := wal.Open(filepath.Join(s.dir, LogFile), logSectors)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is not there, and the node was not stopped in order: %s", ErrDamaged, LogFile, remedy)
	}
	if err == nil {
		var corrected int
		var commits uint64
		corrected, err = f.Replay(s.log.state.generation, func(b []byte) error { commits++; return s.log.table.add(b) })
		s.found.Corrected += corrected
		s.saved.open(&s.log.state, commits)
	}
	if err == nil {
		err = s.useLog(f, s.log.state)
	}
	if err == nil {
		return s.flush(nil, true)
	}
	if f != nil {
		f.Close()
		s.log.file = nil
	}
	if errors.Is(err, wal.ErrDamaged) {
		err = fmt.Errorf("%w: %s: %w: %s", ErrDamaged, LogFile, err, remedy)
	}
	return err
}
