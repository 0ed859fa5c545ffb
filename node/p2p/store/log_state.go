package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
	"go.etcd.io/bbolt"

	"skep/node/p2p/store/sums"
)

// logState says which part of the log belongs to the database. It is in the table meta with a sum of its own, and each
// transaction that takes over what the log holds states the next generation.
type logState struct {
	generation uint64
	inUse      bool // records of that generation are part of the database; false after a stop in order
}

var logKey = []byte("log")

const logStateSize = 8 + 1 + 8 // generation, in use, sum

func (s logState) append(dst []byte) []byte {
	begin := len(dst)
	dst = append(binary.BigEndian.AppendUint64(dst, s.generation), 0)
	if s.inUse {
		dst[len(dst)-1] = 1
	}
	return binary.BigEndian.AppendUint64(dst, xxhash.Sum64(dst[begin:]))
}

func (s logState) save(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put(logKey, s.append(nil)) }

// readLogState returns what a database says, and whether a single flipped bit was corrected in it.
func readLogState(tx *bbolt.Tx) (s logState, corrected bool, err error) {
	b := slices.Clone(tx.Bucket(metaBucket).Get(logKey))
	right := func() bool {
		s = logState{}
		if len(b) != logStateSize {
			return false
		}
		s = logState{binary.BigEndian.Uint64(b), b[8] == 1}
		return string(s.append(nil)) == string(b)
	}
	if right() {
		return s, false, nil
	}
	if len(b) == logStateSize && sums.FlipBack(b, right) {
		return s, true, nil
	}
	return s, false, fmt.Errorf("%w: what %s says of %s is not as it was written: %s", ErrDamaged, File, LogFile, remedy)
}

// loadLogState reads the state, and writes it back where it was corrected.
func (s *Store) loadLogState() error {
	var corrected bool
	err := s.db.View(func(tx *bbolt.Tx) (err error) {
		s.log.state, corrected, err = readLogState(tx)
		return err
	})
	if err == nil && corrected {
		s.found.Corrected++
		err = s.db.Update(s.log.state.save)
	}
	return err
}

// errNoLog reports a commit to a store that was opened without its log.
var errNoLog = errors.New("opened without its log")
