package runner

import "skep/node/p2p/ranks"

// removal is what is given back once attempts have ended: their folders, and what ranks of gangs share.
type removal struct {
	hangs  func(dir string) bool // reports whether a process of an attempt hangs in the kernel
	remove chan *attempt         // whose folders are to be removed
	ranks  *ranks.Table
}

// removeFolders removes folders in the background.
func (r *Runner) removeFolders() {
	for a := range r.remove {
		if err := r.removeNow(a); err != nil {
			r.cfg.Log.Warn("work folder not removed", "error", err)
		}
	}
}

// removeNow removes the folder of an attempt.
func (r *Runner) removeNow(a *attempt) error {
	hangs := r.hangs(a.dir)
	err := r.processes.Remove(a.dir)
	r.ranks.Removed(a.id, hangs || err != nil)
	return err
}

// removeFolder queues the folder of an attempt for removal.
func (r *Runner) removeFolder(a *attempt) {
	select {
	case r.remove <- a:
	default: // the queue is full: the caller removes it, or the disk would fill
		r.removeNow(a)
	}
}
