package sim

import (
	"skep/grid"
	"skep/node"
)

func (n *toy) Jobs(dst []node.JobView) []node.JobView {
	for _, j := range n.jobs {
		v := node.JobView{ID: j.ID, Spec: j.Spec}
		for _, t := range n.tasks {
			switch {
			case t.ID.Task.Job != j.ID:
			case t.State == grid.Ended:
				v.Ended++
			case t.State == grid.Pending:
				v.Pending++
			default:
				v.Placed++
			}
		}
		if n.bug == "miscounts" {
			v.Placed++
		}
		dst = append(dst, v)
	}
	return dst
}

func (n *toy) Stats(grid.Time) node.Stats {
	s := node.Stats{Free: n.free}
	for _, wr := range n.work {
		switch wr.State {
		case grid.WorkQueued:
			s.Queued++
		case grid.WorkRunning:
			s.Running++
		}
	}
	return s
}

// sendInvalidAd sends a peer an impossible ad.
func (n *toy) sendInvalidAd(fx *grid.Effects) {
	if n.bug == "boasts" && len(n.peers) > 0 {
		m := fx.Send(n.peers[0], grid.KindDigest)
		m.Digest = append(m.Digest, grid.AdEntry{Ad: &grid.Ad{Node: n.self, Speed: 1, Capacity: n.cap,
			Free: n.cap.Plus(n.cap)}})
	}
}

// misread replaces a job by a copy.
func (n *toy) misread(s *grid.JobSpec) *grid.JobSpec {
	if n.bug != "misreads" {
		return s
	}
	c := *s
	return &c
}
