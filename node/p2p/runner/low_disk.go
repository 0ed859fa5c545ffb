package runner

import (
	"fmt"

	"skep/grid"
)

// relieve ends the task with the largest folder once less than the floor is free; while that one is being removed,
// the next one only below half of the floor, and so on. Below DiskLow the folders are measured regularly, so that
// the largest is known by then. A folder that is small compared with the floor does not explain the shortage: if
// all are small, the cause may be a file that is in no folder.
func (s *diskMonitor) relieve(free grid.Bytes) {
	s.mu.Lock()
	var largest *attempt
	floor, known := s.cfg.diskFloor(), false
	for a, u := range s.running {
		switch {
		case u.stopped:
			floor /= 2
		case largest == nil || u.Bytes > s.running[largest].Bytes:
			largest = a
		}
		known = known || u.Bytes > 0
	}
	explained := largest != nil && s.running[largest].Bytes >= floor/8
	if known && free < floor && explained {
		u := s.running[largest]
		u.stopped = true
		s.mu.Unlock()
		s.endTask(largest,
			fmt.Sprintf("filled the disk: its folder has %d MiB and %d MiB are left, less than the node needs for itself",
				u.Bytes>>20, free>>20))
		return
	}
	s.mu.Unlock()
	if s.measureIfDue(free) && free < floor && !explained {
		s.endWriter(free, floor)
	}
}

// endWriter ends the task that has written most, if no folder is large enough to explain the shortage. Where the
// kernel does not report what was written it is the newest task. Without a sandbox the processes of a task are not
// known either, and none is ended.
func (s *diskMonitor) endWriter(free, floor grid.Bytes) {
	if !s.tasks.boxed() {
		return
	}
	s.mu.Lock()
	running := make([]*attempt, 0, len(s.running))
	for a, u := range s.running {
		if u.Bytes >= floor/8 { // explained after all
			running = nil
			break
		}
		if !u.stopped {
			running = append(running, a)
		}
	}
	s.mu.Unlock()
	var most, newest *attempt
	var bytes grid.Bytes
	allKnown := true
	for _, a := range running {
		p := s.tasks.processOf(a)
		if p == nil {
			continue
		}
		n, ok := s.tasks.written(p)
		allKnown = allKnown && ok
		if most == nil || n > bytes {
			most, bytes = a, n
		}
		if newest == nil || a.accepted > newest.accepted {
			newest = a
		}
	}
	why := fmt.Sprintf("has written most, %d MiB,", bytes>>20)
	switch {
	case bytes >= floor/8:
	case !allKnown:
		most, why = newest, "is the newest, and it is not known who has written most,"
	default:
		return // something else fills the disk
	}
	s.mu.Lock()
	u := s.running[most]
	if u != nil {
		u.stopped = true
	}
	s.mu.Unlock()
	if u != nil {
		s.endTask(most,
			fmt.Sprintf("%s while the disk is full though no folder is large: %d MiB are left, less than the node needs "+
				"for itself",
				why, free>>20))
	}
}
