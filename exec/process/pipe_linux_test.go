package process

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A task's pipe takes several messages of a peer before the task reads.
func TestInputPipeTakesSeveralMessages(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	enlarge(w)
	size, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		t.Fatal(err)
	}
	limit, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, inputRoom)
	if size < inputRoom && (err == nil || limit >= inputRoom) {
		t.Errorf("the pipe takes %d bytes: want %d", size, inputRoom)
	}
}
