// Package survey looks at the nodes that are known for why none of them takes a task now, and says it: one that fits
// and refuses for now, one that fits and is not connected, or none that fits.
package survey
