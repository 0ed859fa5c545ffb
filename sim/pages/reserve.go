package pages

import (
	"runtime"
	"sync"
)

// Below least bytes a heap has few pages of any size. Room is taken in pieces: of a piece that lies partly in memory
// that was used before the runtime clears all.
const (
	least = 16 << 20
	piece = 64 << 20
)

var (
	mu    sync.Mutex
	asked int
)

// Reserve asks for large pages for a heap that will grow by so many bytes, or by half of this machine's memory if that
// is less. The room is taken and given back, so that what is allocated next lies in it, and all but a piece of it stays
// untouched. It is advice: nothing but speed is different. Of the calls in a process the largest counts, since the
// address space that was asked for stays so.
func Reserve(bytes int) {
	mu.Lock()
	defer mu.Unlock()
	bytes = min(bytes, room())
	if bytes < least || bytes <= asked {
		return
	}
	var pieces [][]byte
	for taken := 0; taken < bytes; taken += piece {
		b := make([]byte, min(piece, bytes-taken))
		if !advise(b) {
			break
		}
		pieces = append(pieces, b)
	}
	runtime.KeepAlive(pieces)
	pieces, asked = nil, bytes
	runtime.GC()
}
