package process

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
)

// measure is how much memory all files in memory of the machine have.
func (w *watcher) measure() (shmem int64) {
	if !w.boxes {
		return 0
	}
	shmem = machineShmem()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.least = min(w.least, shmem)
	return shmem
}

// look adds up the memory of each task and stops those that hold too much. One that has just begun is left for the next
// time: most end before. Each box is looked at by itself: one of many processes and files may take long.
func (w *watcher) look() {
	tasks := w.due()
	if len(tasks) == 0 {
		return
	}
	if !w.boxes {
		for _, t := range tasks {
			t.size, t.members = 0, t.members[:0]
		}
		lookAtSessions(tasks)
		for _, t := range tasks {
			t.judge()
		}
		return
	}
	shmem := w.measure()
	most := w.nobodys(shmem)
	for _, t := range tasks {
		t.passes = 0
		t.busy.Store(true)
		w.looking.Go(func() {
			defer t.busy.Store(false)
			t.size, t.members = 0, nil
			t.lookIntoBox(shmem, most+t.objects.Load())
			t.judge()
		})
	}
}

// nobodys is how much of the memory of files may be that of files without a name: all of the machine's that was not
// there at first, without what tasks and their pods have for certain.
func (w *watcher) nobodys(shmem int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	most := shmem - w.least
	pods := make(map[*sandbox.Pod]int64)
	for _, t := range w.tasks {
		most -= t.objects.Load()
		if t.spec.Pod != nil {
			pods[t.spec.Pod] = max(pods[t.spec.Pod], t.pooled.Load())
		}
	}
	for _, n := range pods {
		most -= n
	}
	return most
}

// due are the tasks to look at. One at which a look takes too long is stopped: meanwhile nobody knows what it holds.
func (w *watcher) due() []*watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	tasks := make([]*watched, 0, len(w.tasks))
	for _, t := range w.tasks {
		switch {
		case t.busy.Load():
			if t.passes++; t.passes >= slow && t.spec.Memory > 0 {
				t.Process.stopFor(MemoryExceeded,
					fmt.Sprintf("keeps its memory from being looked at: one look takes longer than %v", slow*lookEvery))
			}
		case time.Since(t.since) >= lookEvery:
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// judge stops a task that holds more than it may, or of which that cannot be known.
func (t *watched) judge() {
	limit, now := t.spec.Memory, time.Now()
	if limit > 0 && t.size > limit {
		if now.Before(t.recheck) {
			return
		}
		if once, ok := t.shared(); ok {
			t.size = min(t.size, once)
		}
		t.recheck = now.Add(recheck)
	}
	t.peak.Store(max(t.peak.Load(), t.size))
	failed, err := t.view.trouble()
	switch {
	case limit <= 0:
	case t.size > limit:
		t.Process.stop(MemoryExceeded)
	case t.nameless.over != "":
		t.Process.stopFor(MemoryExceeded, t.nameless.over)
	case failed >= blind && !t.empty():
		t.Process.stopFor(MemoryExceeded, fmt.Sprintf("keeps its memory from being looked at: %v", err))
	}
}

// empty reports whether nothing of the task is left.
func (t *watched) empty() bool {
	g, ok := t.view.of.(group)
	if !ok {
		return false
	}
	select {
	case <-g.Empty():
		return true
	default:
		return false
	}
}

// lookAtSessions finds the processes of tasks without boxes.
func lookAtSessions(tasks []*watched) {
	sessions := make(map[int]*watched, len(tasks))
	for _, t := range tasks {
		sessions[t.pid] = t
		for _, pid := range t.beside.sessions() {
			sessions[pid] = t
		}
	}
	eachProcess(func(pid int) {
		session, err := unix.Getsid(pid)
		if t := sessions[session]; err == nil && t != nil {
			s, id := statusOf("/proc", pid)
			t.size += s.all
			t.members = append(t.members, id)
		}
	})
}
