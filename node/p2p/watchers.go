package p2p

import (
	"slices"
	"sync"

	"skep/grid"
)

// watchers are the channels to signal when something about a job has changed.
type watchers struct {
	mu sync.Mutex
	m  map[grid.JobID][]chan struct{}
}

func (w *watchers) init() { w.m = make(map[grid.JobID][]chan struct{}) }

func (w *watchers) add(id grid.JobID) (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.m[id] = append(w.m[id], ch)
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.m[id] = slices.DeleteFunc(w.m[id], func(o chan struct{}) bool { return o == ch })
		if len(w.m[id]) == 0 {
			delete(w.m, id)
		}
	}
}

// changed signals the watchers of the jobs of these tasks.
func (w *watchers) changed(tasks []grid.TaskID) {
	if len(tasks) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.m) == 0 {
		return
	}
	for i, t := range tasks {
		if i > 0 && tasks[i-1].Job == t.Job {
			continue
		}
		for _, ch := range w.m[t.Job] {
			select {
			case ch <- struct{}{}:
			default:
			}
		}
	}
}
