package v1

import (
	"fmt"

	"skep/grid"
)

// reliable sets what is done beforehand about attempts that may be lost.
func (r *Rules) reliable(g *grid.JobSpec) (err error) {
	if r.Reliability == "" {
		return nil
	}
	if g.Rules.Reliability, err = grid.ParseReliability(r.Reliability); err != nil {
		return fmt.Errorf("reliability %w", err)
	}
	return nil
}

// reliabilityOf is the inverse of reliable.
func reliabilityOf(r grid.Reliability) string {
	if r == grid.ReliabilityRetries {
		return ""
	}
	return r.String()
}
