package view

import (
	"fmt"
	"strings"
	"time"

	"skep/grid"
)

// Underreplicated says that fewer nodes keep a job than should; lack is why others cannot, as OlderVersions says it.
func Underreplicated(have, want int, lack string) string {
	if have == 1 {
		return fmt.Sprintf("this node alone keeps the job, where %d should: too few others were connected%s; it is lost if "+
			"this node is", want, lack)
	}
	return fmt.Sprintf("%d nodes keep the job, where %d should: too few others answered%s", have, want, lack)
}

// OlderVersions says which nodes are not eligible as members of a job: those of versions without a feature that it
// needs of its members. A job with access: owner goes only to nodes that promise on connect (grid.FeatureAccess) to
// show it only to a caller with its capability: other nodes get no record of the job and run none of its tasks. Of a
// job whose failed tasks are run again other nodes would not keep the register (grid.FeatureReruns), and a job that
// waits for others they would release.
func OlderVersions(s *grid.JobSpec) string {
	switch features := s.MemberFeatures(); {
	case s.Access() == grid.AccessOwner:
		return " that show it to nobody but its owner, as older versions do not"
	case features.Has(grid.FeatureOrder):
		return " that keep a job which waits for others, as older versions do not"
	case features.Has(grid.FeatureGangs):
		return " that keep a gang, and its contract if it has one, as older versions do not"
	case features.Has(grid.FeatureOptions):
		return " that know options of jobs, as older versions do not"
	case features.Has(grid.FeatureRequirements):
		return " that know requirements and ranks, as older versions do not"
	case features.Has(grid.FeatureDeadlines), features.Has(grid.FeatureBudgets):
		return " that heed a deadline or a budget, as older versions do not"
	case !features.Has(grid.FeatureReruns) && features.Has(grid.FeatureOffers):
		return " that keep which tasks of a job may have been offered, as older versions do not"
	}
	return " that keep a job whose failed tasks are run again, as older versions do not"
}

// Unconfirmed tells a submitter that no majority has answered; full is as FullMembers says it.
func Unconfirmed(id grid.JobID, members int, within time.Duration, full string) string {
	text := fmt.Sprintf("job %s: no majority of the %d nodes that shall keep it has answered within %v; it is on this "+
		"node's disk and may still run: ask for it by its ID, or submit it again with the same ID, which is the same job", id,
		members, within)
	if full != "" {
		text += "; " + full
	}
	return text
}

// FullMembers says that members have no quota left for more of a job; "" = there is none such.
func FullMembers(full []grid.NodeID) string {
	if len(full) == 0 {
		return ""
	}
	var b strings.Builder
	for i, id := range full {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(id.Short())
	}
	return "no room for more of it is left on " + b.String() +
		": there is again when other jobs of this node, or of the job's origin, are over"
}
