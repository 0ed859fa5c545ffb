package wal

import "fmt"

// Replay calls f with each record of a generation, in order, until f returns an error; f must not keep it. The record
// that a crash cut short is left out: it can only be the last one. A single flipped bit in a sector is corrected, and
// counted. ErrDamaged reports that a record is not as it was written, or missing, or that the log is of a later
// generation.
func (l *Log) Replay(generation uint64, f func(record []byte) error) (corrected int, err error) {
	b, err := l.read()
	if err != nil {
		return 0, err
	}
	return replay(b, generation, f)
}

// replay is Replay of the content of a file, in which it corrects bits.
func replay(b []byte, generation uint64, f func(record []byte) error) (corrected int, err error) {
	r := reader{b: b, next: place{generation: generation}}
	for {
		record, err := r.record()
		if err == nil && record == nil {
			err = r.checkRest()
			return r.corrected, err
		}
		if err == nil {
			err = f(record)
		}
		if err != nil {
			return r.corrected, err
		}
	}
}

// reader reads the records of one generation.
type reader struct {
	b         []byte // the whole file
	at        int    // the sector in which the next record begins, if there is one
	next      place  // of that sector
	corrected int
}

func (r *reader) sectors() int { return len(r.b) / SectorSize }

func (r *reader) sector(n int) []byte { return r.b[n*SectorSize : (n+1)*SectorSize] }

func (r *reader) damaged(n int, what string) error {
	return fmt.Errorf("%w: sector %d, at byte %d, %s", ErrDamaged, n, n*SectorSize, what)
}

// record returns the next record, not nil, or nil at the end.
func (r *reader) record() ([]byte, error) {
	if r.at == r.sectors() {
		return nil, nil
	}
	h, there, err := r.expect(r.at, r.next, nil)
	if err != nil || !there {
		return nil, err
	}
	n := (uint64(h.length) + Content - 1) / Content
	if n > uint64(r.sectors()-r.at) {
		return nil, r.damaged(r.at, fmt.Sprintf("begins a record of %d bytes, which the log cannot hold", h.length))
	}
	record := make([]byte, 0, max(1, n)*Content)
	var firstErr error
	for i := range sectors(int(h.length)) {
		p := r.next
		p.index = uint32(i)
		_, there, err := r.expect(r.at+i, p, &h.length)
		switch {
		case err != nil && firstErr == nil:
			firstErr = err
		case err == nil && !there:
			return nil, nil // it was never durable, whatever the rest of it is now
		}
		record = append(record, r.sector(r.at + i)[contentAt:sumAt]...)
	}
	if firstErr != nil {
		return nil, firstErr
	}
	r.at += sectors(int(h.length))
	r.next.record++
	return record[:h.length], nil
}

// expect looks for the sector of a place. It is not there if it was never written, or not as a whole, or if what is
// there is of an earlier record.
func (r *reader) expect(n int, p place, length *uint32) (h head, there bool, err error) {
	s := r.sector(n)
	what := stateOf(s)
	if what == damaged && correct(s) {
		r.corrected++
		what = stateOf(s)
	}
	switch what {
	case damaged:
		return h, false, r.damaged(n, "is not as it was written")
	case blank, half:
		return h, false, nil
	}
	h = headOf(s)
	switch {
	case h.place == p && (length == nil || *length == h.length):
		return h, true, nil
	case h.before(p):
		return h, false, nil
	}
	return h, false, r.damaged(n, fmt.Sprintf("is sector %d of record %d of generation %d: want sector %d of record %d "+
		"of generation %d", h.index, h.record, h.generation, p.index, p.record, p.generation))
}

// checkRest checks that nothing follows the last record but what was there before, and parts of the next one.
func (r *reader) checkRest() error {
	for n := r.at; n < r.sectors(); n++ {
		s := r.sector(n)
		if !isWhole(s) {
			continue
		}
		if h := headOf(s); r.next.before(h.place) {
			return r.damaged(n, fmt.Sprintf("is of record %d of generation %d, and record %d of generation %d before it is "+
				"missing", h.record, h.generation, r.next.record, r.next.generation))
		}
	}
	return nil
}
