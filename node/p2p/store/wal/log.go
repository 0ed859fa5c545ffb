package wal

import (
	"errors"
	"fmt"
	"os"

	"skep/node/p2p/disk"
)

// ErrDamaged reports that a record that was durable is not as it was written, or is missing.
var ErrDamaged = errors.New("the log is damaged")

// ErrFailed reports that an earlier Append has failed: Begin makes the log usable again.
var ErrFailed = errors.New("an earlier write to the log failed")

// Log is a log that is open. It is for one goroutine at a time.
type Log struct {
	file  *os.File
	marks []byte // of each sector: what its last byte is on disk
	buf   []byte // for the sectors of one record

	generation uint64
	record     uint32 // number of the next record
	at         int    // sector in which the next record begins
	failed     bool   // what is on disk from at on is not known
}

// NewSuffix follows the name of a log that is being created.
const NewSuffix = ".new"

// Create creates a log of so many sectors, or replaces one. When it returns the file is on disk under its name, and was
// written once: later writes find their space allocated, so a sync of them has no metadata to write. A crash leaves a
// complete file or none, and maybe one of that name with ".new" behind it.
func Create(path string, sectors int) error {
	return disk.Replace(path+NewSuffix, path, func(f *os.File) error {
		_, err := f.Write(make([]byte, sectors*SectorSize))
		return err
	})
}

// Open opens a log of so many sectors. A file of another size is ErrDamaged, a missing one fs.ErrNotExist. Before the
// first Append, Begin must be called.
func Open(path string, sectors int) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if want := int64(sectors) * SectorSize; err == nil && info.Size() != want {
		err = fmt.Errorf("%w: it has %d bytes instead of %d", ErrDamaged, info.Size(), want)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	dropPages(f)
	return &Log{file: f, marks: make([]byte, sectors), failed: true}, nil
}

// read reads the whole file, and notes the marks in it.
func (l *Log) read() ([]byte, error) {
	b := make([]byte, len(l.marks)*SectorSize)
	if _, err := l.file.ReadAt(b, 0); err != nil {
		return nil, err
	}
	for i := range l.marks {
		l.marks[i] = mark(b[i*SectorSize+endMarkAt])
	}
	return b, nil
}

// Newest returns the highest generation of which the file has a sector; 0 if there is none.
func (l *Log) Newest() (newest uint64, err error) {
	b, err := l.read()
	for ; len(b) > 0; b = b[SectorSize:] {
		if s := b[:SectorSize]; isWhole(s) {
			newest = max(newest, headOf(s).generation)
		}
	}
	return newest, err
}

// Begin begins a generation, which must be higher than all that the log has: what was appended before is not part of
// the log any more. It writes nothing. Invariant: what the caller keeps durable elsewhere states that generation
// already.
func (l *Log) Begin(generation uint64) error {
	if l.failed {
		if _, err := l.read(); err != nil {
			return err
		}
	}
	l.generation, l.record, l.at, l.failed = generation, 0, 0, false
	return nil
}

// Fits reports whether a record of that many bytes fits behind what there is.
func (l *Log) Fits(length int) bool { return sectors(length) <= len(l.marks)-l.at }

// Append appends a record, which must fit; it is on disk when it returns nil. After an error it may be there or not,
// and the log takes no record until Begin: what is half there must not be taken for a part of the next one.
func (l *Log) Append(record []byte) error {
	if l.failed {
		return ErrFailed
	}
	n := sectors(len(record))
	if n > len(l.marks)-l.at {
		panic("wal: a record is appended that does not fit")
	}
	if need := n * SectorSize; cap(l.buf) < need {
		l.buf = make([]byte, need)
	}
	h := head{place{l.generation, l.record, 0}, uint32(len(record))}
	for i := range n {
		h.index = uint32(i)
		record = putSector(l.buf[i*SectorSize:(i+1)*SectorSize], ^l.marks[l.at+i], h, record)
	}
	_, err := l.file.WriteAt(l.buf[:n*SectorSize], int64(l.at)*SectorSize)
	if err == nil {
		err = syncData(l.file)
	}
	if err != nil {
		l.failed = true
		return err
	}
	for i := range n {
		l.marks[l.at+i] ^= 0xff
	}
	l.at += n
	l.record++
	return nil
}

// Stat describes the file.
func (l *Log) Stat() (os.FileInfo, error) { return l.file.Stat() }

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
