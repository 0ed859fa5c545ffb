// Package cancellation says how the tasks of a cancelled job end, and whether callers may have tasks end or run again.
//
// A job is cancelled by a caller, by a rule (too many of its tasks have failed), since a job that it waits for has not
// ended as it should, or since a limit is reached: its deadline is over, or its budget is exhausted. The register holds
// which of the last it was; the others follow from what it holds of the tasks. All members so say the same, also those
// that did not decide it.
package cancellation
