package node

import (
	"skep/grid"
	"skep/node/membership"
)

// A job is created once its members are chosen, which waits for their answers to keepalives.

// keepaliveAnswered takes a member's, or a candidate's, answer to a keepalive.
func (n *Node) keepaliveAnswered(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	a := n.replicas.KeepaliveAnswered(now, from, m, fx)
	if a.Forged {
		n.countOffence(from, fx)
	}
	if a.Alive {
		n.createJobs(now, n.submissions.Answered(now, from, a.Revived, fx), fx)
	}
	if a.Agrees {
		n.coordinator.ResumeJobs(now, fx)
	}
}

// createJobs creates the jobs whose members are chosen. This node has less room for other work from then on.
func (n *Node) createJobs(now grid.Time, jobs []membership.Job, fx *grid.Effects) {
	for i := range jobs {
		j := &jobs[i]
		n.coordinator.Create(now, j.ID, j.Spec, j.Others, j.Callers, j.Since.Add(n.tuning.Confirm), fx)
		n.profile.Changed(now, fx)
	}
	n.submissions.SetTimer(now, fx)
}
