package slurm

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"skep/exec/external"
)

// share tells the folder in which the orders of a node are from another one at its path, as where a file system is not
// mounted: there an order that is not found may run all the same. The folder and the data folder hold the same ID.
type share struct {
	dir  string // of the orders
	own  string // file of the ID in the data folder, for this node: dir has been used if it is there
	mark string // file of the ID in dir
}

func newShare(dir, data string) share {
	return share{dir: dir, own: filepath.Join(data, filepath.Base(dir)+".id"), mark: filepath.Join(dir, "id")}
}

// open makes the folder if it was never used, and checks it else.
func (s *share) open() error {
	var id string
	err := external.ReadRecord(s.own, &id)
	if !errors.Is(err, fs.ErrNotExist) {
		return s.check()
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	err = external.ReadRecord(s.mark, &id) // the node was killed before it has written its own
	if errors.Is(err, fs.ErrNotExist) {
		id = rand.Text()
		if err = external.WriteRecord(s.mark, id); err == nil {
			err = external.SyncFolder(filepath.Dir(s.dir))
		}
	}
	if err != nil {
		return err
	}
	return external.WriteRecord(s.own, id)
}

// check reports whether the folder is the one that was used before.
func (s *share) check() error {
	var own, mark string
	if err := external.ReadRecord(s.own, &own); err != nil {
		return err
	}
	err := external.ReadRecord(s.mark, &mark)
	if err == nil && own != "" && mark == own {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%s: it has the ID of another folder", s.mark)
	}
	return fmt.Errorf("slurm_dir is not mounted or was changed: mount it, or set it as it was. If it is gone for good "+
		"and squeue shows no job of this node, remove %s: %w", s.own, err)
}
