//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"

	"skep/exec/sandbox/zygote"
)

// What a box is told of itself: its beginning and end by its stub, and that the stub is gone by the forker.

// listen takes the reports of the stub until nothing is left of the box, or it has ended before.
func (b *Box) listen() {
	for {
		var r zygote.Report
		var files [sent]*os.File
		n, _, err := b.control.receive(unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r)), files[:])
		if err != nil || n != int(unsafe.Sizeof(r)) {
			break
		}
		if r.Kind == zygote.ReportAnswer || r.ID != b.id {
			b.more.told(&r, files)
			continue
		}
		if files[0] != nil {
			b.more.mu.Lock()
			b.more.terminal = files[0]
			b.more.mu.Unlock()
		}
		if b.told(&r); r.Kind == zygote.ReportEmpty {
			break // nothing follows: its end is told by the forker
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard = true
	b.bury()
}

// told takes a report about this box.
func (b *Box) told(r *zygote.Report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch r.Kind {
	case zygote.ReportStarted:
		b.pid = int(r.Pid)
		if b.start == givenUp && b.control == nil { // nobody would watch it; with a stub it ends with that
			go b.Signal(syscall.SIGKILL)
		}
		b.began(nil)
	case zygote.ReportFailed:
		b.began(&StartError{r.Stage, syscall.Errno(r.Errno)})
	case zygote.ReportExited:
		b.note(r)
		b.leave()
	case zygote.ReportEmpty:
		if b.control != nil || !b.left {
			b.note(r)
		}
		b.finish()
	case zygote.ReportGone:
		b.gone = true
		b.heard = b.heard || b.control == nil
		b.bury()
	}
}

// bury ends what the stub did not tell the end of: once it is gone, and what it had told was heard.
func (b *Box) bury() {
	if b.heard && b.gone {
		b.began(errors.New("its box ended before it began"))
		if !b.left {
			b.lose()
		}
		b.finish()
	}
}

// lose says how a command ended whose stub ended first. Where a control group is killed as a whole, as cgroup v2 does,
// the stub is killed with its task for want of memory.
func (b *Box) lose() {
	if b.group.killed() > b.kills {
		b.end = End{Status: syscall.WaitStatus(syscall.SIGKILL), OutOfMemory: true}
		return
	}
	b.end.Broken = true
}

// giveUp has the command killed when it begins after all; false: it has begun, or failed, that moment.
func (b *Box) giveUp() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.start == awaited {
		b.start = givenUp
	}
	return b.start == givenUp
}

// began answers Start, once.
func (b *Box) began(err error) {
	if b.start == awaited {
		b.start = begun
		b.started <- err
	}
}

func (b *Box) note(r *zygote.Report) {
	b.end = End{Status: syscall.WaitStatus(r.Status), CPU: time.Duration(r.CPU) * time.Microsecond, MaxRSS: r.MaxRSS << 10,
		OutOfMemory: b.group.killed() > b.kills}
}

func (b *Box) leave() {
	if !b.left {
		b.left = true
		close(b.exited)
	}
}

func (b *Box) finish() {
	b.leave()
	if !b.over {
		b.over = true
		b.more.end()
		close(b.empty)
	}
}
