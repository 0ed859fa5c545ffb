package jobs

import (
	"fmt"

	"skep/grid"
	"skep/node/listing"
)

// StateNames returns the states of a job, as lists have them.
func StateNames() []string { return listing.StateNames() }

// CheckRef checks the length and the characters of a job's ID or name; the node checks the rest.
func CheckRef(s string) error {
	if s == "" || len(s) > grid.MaxName || !grid.Printable(s) {
		return fmt.Errorf("job %+.80q: want an ID, %d or more characters of its beginning, a job's name, or last", s,
			listing.MinPrefix)
	}
	return nil
}
