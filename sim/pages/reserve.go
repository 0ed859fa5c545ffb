package pages

import (
	"math"
	"runtime"
	"sync"
)

// least is the size in bytes from which it is worth it: smaller heaps have few pages of any size.
const least = 16 << 20

var (
	mu    sync.Mutex
	asked int
)

// Reserve asks for large pages for a heap that will grow by so many bytes, or by half of this machine's memory if that is less.
// The room is taken and given back untouched, so that what is allocated next lies in it. It is advice: nothing but speed is
// different. Of the calls in a process the largest counts, since the address space that was asked for stays so.
func Reserve(bytes int) {
	mu.Lock()
	defer mu.Unlock()
	bytes = min(bytes, memory()/2, math.MaxInt/8) // the last where addresses are short
	if bytes < least || bytes <= asked {
		return
	}
	if asked = bytes; advise(make([]byte, bytes)) {
		runtime.GC()
	}
}
