package failures

import (
	"fmt"

	"skep/grid"
)

// Unrecorded is what a task waits for whose end, or whose retry by a caller, too few members of the register have. e is
// that entry. While it is not committed the end is not visible, and nothing follows it.
func Unrecorded(e *grid.Entry, committed bool) grid.Refusal {
	if e == nil || committed {
		return grid.Refusal{}
	}
	const few = "too few of the nodes that keep it have recorded that "
	why := grid.Refusal{Why: grid.WhyMajority}
	switch {
	case e.IsRetry():
		why.Detail = few + "it is to be run again"
	case e.Open():
		why.Detail = fmt.Sprintf("%sit failed with %d; it is run again when they have", few, e.Result.Exit)
	default:
		why.Detail = few + "it has ended"
	}
	return why
}
