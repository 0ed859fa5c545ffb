package ownercache

import (
	"slices"
	"testing"

	"skep/grid"
)

// Of the claimants of a job each is listed once, with its newest epoch, the newest first; their number is bounded.
func TestClaimantsOfAJob(t *testing.T) {
	var c Cache
	job := grid.JobID{Nonce: [10]byte{1}}
	for i := range byte(10) {
		c.Add(job, Claimant{grid.NodeID{i}, uint32(i), 0})
		c.Add(job, Claimant{grid.NodeID{i}, uint32(i), 1}) // repeated
		c.Add(job, Claimant{grid.NodeID{9}, 0, 1})         // an older epoch of it
	}
	c.Add(job, Claimant{grid.NodeID{7}, 20, 0})
	var got []grid.NodeID
	for _, x := range c.Claimants(job) {
		got = append(got, x.Node)
	}
	if want := []grid.NodeID{{7}, {9}, {8}, {6}}; !slices.Equal(got, want) {
		t.Errorf("%v: want %v", got, want)
	}
}
