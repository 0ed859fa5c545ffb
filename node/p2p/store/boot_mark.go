package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.etcd.io/bbolt"

	"skep/grid"
	"skep/node/p2p/disk"
)

// MarkFile is a file beside the database that outlives it: it records whose the database is and a lower bound of
// that node's starts. A database with fewer starts was emptied, created anew, or restored from an old copy.
const MarkFile = "skep.boots"

// markFormat is the first word of the file.
const markFormat = "1"

// mark is the content of the file. Invariant: boot is at most the count in the database, since it is written after
// that is on disk.
type mark struct {
	node grid.NodeID
	boot uint64
}

// readMark returns the mark of a folder; zero if there is none, as in a folder of an earlier version.
func readMark(dir string) (m mark, err error) {
	path := filepath.Join(dir, MarkFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	words := strings.Fields(string(b))
	if len(words) > 0 && words[0] != markFormat && strings.Trim(words[0], "0123456789") == "" {
		return m, fmt.Errorf("%w (%s of format %.10s): this one reads format %s",
			ErrNewer, MarkFile, words[0], markFormat)
	}
	if len(words) == 3 {
		if m.node, err = grid.ParseNodeID(words[1]); err == nil {
			m.boot, err = strconv.ParseUint(words[2], 10, 64)
		}
	}
	if len(words) != 3 || err != nil || m.boot == 0 {
		return m, fmt.Errorf("%w: %s says nothing of %s: want it back as it was, "+
			"or remove it if that file is as it was when the node was stopped", ErrDamaged, MarkFile, File)
	}
	return m, nil
}

func (m mark) write(dir string) error {
	return disk.WriteFile(filepath.Join(dir, MarkFile), fmt.Appendf(nil, "%s %s %d\n", markFormat, m.node, m.boot))
}

// remedy ends every error about a database that is not the one with which the node was stopped.
const remedy = "want it back as it was when the node was last stopped, or another data folder, " +
	"in which this is another node: " +
	"with a database begun anew it would run again what it has run, and vote again where it has voted"

// missing returns the error of a folder whose database is missing.
func (m mark) missing() error {
	if m.boot == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s is not there, but node %s has been started %d times (%s): %s",
		ErrDamaged, File, m.node.Short(), m.boot, MarkFile, remedy)
}

// check compares a database with the mark. A mark of another node is ignored: the node's key decides whose the
// database is.
func (m mark) check(tx *bbolt.Tx) error {
	owner, boot := ownerOf(tx), bootOf(tx)
	if m.boot <= boot || owner != m.node && !owner.IsZero() {
		return nil
	}
	what := "is an old copy: it knows of " + strconv.FormatUint(boot, 10)
	if boot == 0 {
		what = "was emptied or begun anew: it knows of none"
	}
	return fmt.Errorf("%w: %s %s of the %d starts or more of node %s (%s): %s",
		ErrDamaged, File, what, m.boot, m.node.Short(), MarkFile, remedy)
}

func ownerOf(tx *bbolt.Tx) (id grid.NodeID) {
	copy(id[:], tx.Bucket(metaBucket).Get(ownerKey))
	return id
}

func bootOf(tx *bbolt.Tx) uint64 {
	if v := tx.Bucket(metaBucket).Get(bootKey); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}
