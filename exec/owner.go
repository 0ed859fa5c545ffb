package exec

import (
	"skep/balance/order"
	"skep/grid"
)

// Owner is who hands in work as the owner of its job.
type Owner struct {
	Node    grid.NodeID
	Vouched bool // the job's origin has named it here as one who may own the job
}

// forOrigin reports whether what tasks of a job use counts for the job's origin: that hands them in, or has vouched for
// the owner.
func (o Owner) forOrigin(job grid.JobID) bool { return o.Vouched || o.Node == job.Origin }

// Key returns what an order asks of a task of a job. What the task uses counts for the job's origin and its user there
// if the origin itself hands it in, or has vouched for the owner. Else it counts for the owner, and there for a user of
// its own: that the origin has signed the job does not say that it wants it run again, and whoever keeps or runs the
// job has that signature.
func (o Owner) Key(job grid.JobID, s *grid.JobSpec, class string) order.Key {
	k := order.Key{Bid: s.Bid(), Node: job.Origin, User: s.Submitter.User, Class: class}
	if !o.forOrigin(job) {
		k.Node, k.User = o.Node, k.User+"@"+string(job.Origin[:])
	}
	return k
}
