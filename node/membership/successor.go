package membership

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"skep/grid"
)

// Successor returns who is to replace a member of a job's register: of the candidates that are not barred the one that
// shares the fewest failure domains with the members that stay. Of equal ones the job's ID decides, so that many jobs
// whose member is gone spread over all, and nothing is drawn. Zero = none is left.
func Successor(id grid.JobID, stay, candidates []*grid.Ad, barred func(grid.NodeID) bool) (best grid.NodeID) {
	least, bestRank := 1<<30, [sha256.Size]byte{}
	for _, ad := range candidates {
		if barred(ad.Node) {
			continue
		}
		same := 0
		for _, m := range stay {
			same += sharedDomains(ad, m)
		}
		rank := sha256.Sum256(slices.Concat(id.Nonce[:], id.Origin[:], ad.Node[:]))
		if same < least || same == least && bytes.Compare(rank[:], bestRank[:]) < 0 {
			best, least, bestRank = ad.Node, same, rank
		}
	}
	return best
}
