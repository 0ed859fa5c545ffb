package node

import (
	"fmt"
	"strings"

	"skep/grid"
)

// confirmed reports whether a submission is known to be durable: this node alone keeps the job, or a majority holds it
// and its inputs are deposited or not waited for. An epoch above 1 has an owner only if a majority voted for it, and a
// voter holds the job.
func (j *job) confirmed() bool {
	rep := j.replica
	if rep.State().Done || rep.Ready() && rep.files.InputsSettled() {
		return true
	}
	_, epoch, _ := rep.Owner()
	return !rep.IsOwner() && epoch > 1
}

// confirmSubmission answers the submitters once a majority has the job and its inputs, or the inputs are no longer
// waited for.
func (c *coordinator) confirmSubmission(now grid.Time, j *job, fx *grid.Effects) {
	if rep := j.replica; rep.Ready() && rep.files.SettleInputs(now) {
		c.replyAll(&rep.submitters, j.id, fx)
	}
}

// answerUnconfirmed answers the callers that have waited Config.Confirm for a majority: the job is here and may yet
// run.
func (c *coordinator) answerUnconfirmed(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	if len(rep.submitters) == 0 || now < rep.confirmBy || rep.Ready() { // a ready register waits only for its inputs, which end by themselves
		return
	}
	for _, x := range rep.submitters {
		text := fmt.Sprintf("job %s: no majority of the %d nodes that shall keep it has answered within %v; it is on this node's disk and may still run: "+
			"ask for it by its ID, or submit it again with the same ID, which is the same job", j.id, len(rep.Members()), c.cfg.Confirm)
		if why := j.fullMembers(); why != "" {
			text += "; " + why
		}
		fx.Reply(x, j.id, text)
	}
	rep.submitters = nil
}

// Underreplicated says that fewer nodes than configured keep a job submitted here, though the grid is known to have
// more, or that members have no quota left for more of it; "" = neither, or the job is over.
func (c *coordinator) Underreplicated(j *JobView) string {
	if o := c.peekJob(j.ID); o != nil && j.Ended < int(j.Spec.Count) {
		if why := o.fullMembers(); why != "" {
			return why
		}
	}
	have := max(1, len(j.Members))
	if j.ID.Origin != c.cfg.Self || have >= c.cfg.Members || j.Ended == int(j.Spec.Count) || max(c.cfg.Known, len(c.gossip.Peers())) < c.cfg.Members-1 {
		return ""
	}
	if have == 1 {
		return fmt.Sprintf("this node alone keeps the job, where %d should: too few others were connected%s; it is lost if this node is", c.cfg.Members, c.accessHint(j))
	}
	return fmt.Sprintf("%d nodes keep the job, where %d should: too few others answered%s", have, c.cfg.Members, c.accessHint(j))
}

// fullMembers names the members that refused the job's last write for lack of quota; "" if none. The write is
// repeated every third of a lease.
func (j *job) fullMembers() string {
	if !j.replica.IsOwner() {
		return ""
	}
	var full []string
	for place, id := range j.replica.Members() {
		if j.replica.Full(place) {
			full = append(full, id.Short())
		}
	}
	if len(full) == 0 {
		return ""
	}
	return "no room for more of it is left on " + strings.Join(full, ", ") +
		": there is again when other jobs of this node, or of the job's origin, are over"
}

func (c *coordinator) replyAll(callers *[]uint64, id grid.JobID, fx *grid.Effects) {
	for _, x := range *callers {
		fx.Reply(x, id, "")
	}
	*callers = nil
}
