package transport

import (
	"encoding/binary"
	"testing"

	"skep/grid"
)

// The members of the newest jobs are known, of each job those that the first and the last of two lists name.
func TestMembers(t *testing.T) {
	var k Members
	a, b, c := grid.NodeID{1}, grid.NodeID{2}, grid.NodeID{3}
	id := func(n int) (id grid.JobID) {
		binary.BigEndian.PutUint32(id.Nonce[:], uint32(n))
		return id
	}
	k.add(id(0), []grid.NodeID{a, b})
	k.add(id(0), []grid.NodeID{a, b})
	k.add(id(0), []grid.NodeID{c})
	if !k.isMember(id(0), a) || !k.isMember(id(0), b) || !k.isMember(id(0), c) || k.isMember(id(1), a) {
		t.Errorf("members of the first job %v", k.byJob.Get(id(0)))
	}
	for n := range maxCachedMembers {
		k.add(id(n+1), []grid.NodeID{a})
	}
	if k.isMember(id(0), a) || !k.isMember(id(1), a) || !k.isMember(id(maxCachedMembers), a) {
		t.Errorf("%d jobs are known, want the newest %d", k.byJob.Len(), maxCachedMembers)
	}
}
