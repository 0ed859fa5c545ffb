package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	ds "github.com/ipfs/go-datastore"
)

var placeKey = ds.NewKey("/place")

// Place is where a data folder is, as far as that can be told: the machine's ID and the folder's inode. A folder that
// was copied, or moved to another machine, is in another place; a copy of a whole disk is not.
type Place string

// PlaceOf returns the place of a folder.
func PlaceOf(dir string) (Place, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	var inode uint64
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = uint64(st.Ino)
	}
	id, err := os.ReadFile("/etc/machine-id") // containers often have none
	if err != nil {
		id = nil
	}
	return Place(fmt.Sprintf("%s %d", strings.TrimSpace(string(id)), inode)), nil
}

// Moved reports whether the folder was in another place when the node last ran. It is false for a first start.
func (p Place) Moved(ctx context.Context, data ds.Datastore) (bool, error) {
	before, err := data.Get(ctx, placeKey)
	if errors.Is(err, ds.ErrNotFound) {
		return false, nil
	}
	return err == nil && Place(before) != p, err
}

// Save records where the folder is, if that has changed.
func (p Place) Save(ctx context.Context, data ds.Datastore) error {
	if before, err := data.Get(ctx, placeKey); err == nil && Place(before) == p {
		return nil
	}
	return data.Put(ctx, placeKey, []byte(p))
}
