package quota

import "skep/grid"

// Keeper is who has the jobs that are counted.
type Keeper interface {
	// Evict forgets a job that is over and returns how many records that took. It has the accounts forget the job.
	Evict(id grid.JobID, fx *grid.Effects) (records int)
}

// Bounds of one step: after a start far more may be stored than the quota allows, and each of the jobs evicted to make
// room may have many records.
const (
	maxEvictions = 256
	maxRecords   = 2000 // no further job is evicted then
)

// MakeRoom returns why something must not be kept for who; "" = it may, after the keeper has evicted the oldest jobs
// that are over if need be.
func (s *Accounts) MakeRoom(who Parties, size Amount, k Keeper, fx *grid.Effects) string {
	if why := s.Admit(who, size); why != "" {
		return why
	}
	records := 0
	for n := 0; n < maxEvictions && records < maxRecords; n++ {
		id, found := s.oldest(who, size)
		if !found {
			return ""
		}
		records += k.Evict(id, fx)
	}
	if s.crowded(who, size) {
		return "room is being made"
	}
	return ""
}

// LargestJob says how large a job of a node may be that is still kept: 0 = of any size; else the most tasks that it may
// have, plus one.
func (s *Accounts) LargestJob(of grid.NodeID) uint32 {
	left := s.left(Parties{Origin: of, Sender: of})
	switch {
	case left.Bytes < typicalJobBytes || left.Registers < 1 || left.Tasks < 1:
		return 1
	case left.Tasks >= grid.MaxCount:
		return 0
	}
	return uint32(left.Tasks) + 1
}
