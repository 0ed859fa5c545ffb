package peers

import (
	"math"

	"skep/grid"
)

// What the place of a task's inputs is worth: work goes where they are, or where they are soon [2, chapter 3]. The
// bandwidth to a node is what transfers with it have achieved.

// fetchTime is the time in seconds until a node has those inputs of a job's mean task that it is not known to have; of
// small files none. 0 where Config.Balance.Bandwidth is.
func (p *Peers) fetchTime(now grid.Time, id grid.NodeID, spec *grid.JobSpec) (sum float64) {
	if spec == nil || len(spec.Inputs) == 0 || !(p.cfg.Balance.Bandwidth > 0) || id == p.cfg.Self {
		return 0
	}
	rate := p.rateWith(now, id)
	spec.EachInput(func(f *grid.File, share float64) { sum += share * p.holders.until(now, id, f, rate) })
	return sum
}

// rateWith is the bandwidth that a transfer with a node is expected to have, bytes a second: what it had, and the
// longer ago the nearer to what is assumed of a link that was not measured.
func (p *Peers) rateWith(now grid.Time, id grid.NodeID) float64 {
	b, assumed := p.bandwidths.of(now, id), p.cfg.Balance.Bandwidth
	if b.Rate == 0 {
		return assumed
	}
	weight := math.Exp(-max(b.Age, 0).Seconds() / bandwidthMemory.Seconds())
	return assumed + weight*(b.Rate-assumed)
}

// transferTime is the time that a node needs to fetch so many bytes, in seconds, over a link that was not measured.
func (p *Peers) transferTime(bytes float64) float64 {
	if !(p.cfg.Balance.Bandwidth > 0) {
		return 0
	}
	return bytes / p.cfg.Balance.Bandwidth
}

// Fetches records that a node was given a task of a job, and begins to fetch its inputs.
func (p *Peers) Fetches(now grid.Time, id grid.NodeID, spec *grid.JobSpec) {
	if len(spec.Inputs) > 0 && p.cfg.Balance.Bandwidth > 0 && id != p.cfg.Self {
		p.holders.fetches(now, id, spec, p.rateWith(now, id))
	}
}

// StopsFetching records that a node has refused or lost a task of a job: what it had not fetched by then is not known.
func (p *Peers) StopsFetching(id grid.NodeID, spec *grid.JobSpec) { p.holders.stops(id, spec) }
