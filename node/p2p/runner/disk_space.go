package runner

import (
	"skep/grid"
	"skep/node/p2p/disk"
)

// DiskFloor is the free disk space, in bytes, that is reserved for a node's records: below it, tasks are ended. low
// is the free space below which the node takes no tasks.
func DiskFloor(low grid.Bytes) grid.Bytes { return min(low/2, maxDiskFloor) }

func (c *Config) diskFloor() grid.Bytes { return DiskFloor(c.DiskLow) }

// isLowDisk reports whether so little is free that the node takes no tasks; a low state ends only with a quarter
// more.
func (c *Config) isLowDisk(free grid.Bytes, was bool) bool {
	bound := c.DiskLow
	if was {
		bound += bound / 4
	}
	return free < bound
}

// diskBound returns the bound of the files of a task that starts now, in bytes.
func (c *Config) diskBound() grid.Bytes {
	if c.Boxes.Disk > 0 {
		return c.Boxes.Disk
	}
	return grid.Bytes(c.maxFile())
}

// maxFile returns the bound of each file that a task writes, in bytes: what is free now beyond DiskLow, or half of
// what is free if that is more. Without it, a file that grows for ever would take the room for the node's records,
// and the node would end. 0, no bound, if the free space is not known.
func (c *Config) maxFile() int64 {
	free, err := disk.Free(c.DataDir)
	if err != nil {
		return 0
	}
	return int64(max(free-c.DiskLow, free/2, 1))
}

// cpuShare returns the part of the time that tasks of a class may run; 0 = all of it.
func (c *Config) cpuShare(class string) float64 {
	if s, ok := c.Share[class]; ok {
		return s
	}
	return c.Share["*"]
}

// CheckDisk reports when free disk space becomes low, and when there is enough again. It has no timer of its own: an
// idle node writes nothing. While tasks run, or there is little, the disk monitor makes the loop call it.
func (r *Runner) CheckDisk(at grid.Time) (low, changed bool) {
	s := r.disk
	was := s.low.Load()
	if s.lastCheck != 0 && at.Sub(s.lastCheck) < diskCheckInterval && !s.checkNow.Swap(false) {
		return was, false
	}
	s.lastCheck = at
	free, err := disk.Free(r.cfg.DataDir)
	if low = r.cfg.isLowDisk(free, was); err != nil || low == was {
		return was, false
	}
	s.low.Store(low)
	s.wake()
	r.cfg.Log.Warn("free disk space", "low", low, "bytes", free)
	return low, true
}
