package p2p

import (
	"fmt"
	"os"
	"syscall"
)

// ownerOf returns the user and group of a file.
func ownerOf(path string) (ids [2]int, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return ids, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ids, fmt.Errorf("%s: has no owner", path)
	}
	return [2]int{int(st.Uid), int(st.Gid)}, nil
}
