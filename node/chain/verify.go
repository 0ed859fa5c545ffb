package chain

import (
	"fmt"

	"skep/grid"
)

// Report says what was found of each link of a job, from its origin on, in what a node keeps of it. The error of a link
// is nil where its signatures hold.
type Report struct {
	Origin  error
	Members error // of the changes of members; nil also where there was none
	Owner   error // of the votes for the owner of the newest epoch that is kept
	Voters  []grid.NodeID
	Ends    []End

	// Unsigned: the origin's signature is not kept, and its node is the one that keeps the job: nobody else has a part
	// in what it would prove.
	Unsigned bool
}

// End is what was found of the end of a task.
type End struct {
	Index uint32
	Signed
	Err error
}

// Verify checks what a node, self, keeps of a signed job: the register, and ends of tasks. It takes nothing as checked
// before, and trusts none but the keys in the job's ID and of the nodes named. The owner's votes count as those in an
// end do: who has not heard of the last change of members may have cast them.
func Verify(self grid.NodeID, r *grid.RegisterRecord, ends []grid.Entry) *Report {
	c := New(Observer{}, self, r.ID, r.Spec, r.Members)
	x := &Report{Unsigned: r.Genesis == "" && r.ID.Origin == self && len(r.Members) == 1 && r.Members[0] == self}
	if !x.Unsigned {
		x.Origin = c.CheckGenesis(r.Genesis)
	}
	if r.Set != nil {
		x.Members = c.Follow(r.Set)
	}
	if r.Epoch > 0 {
		x.Voters, x.Owner = c.voters(r.Epoch, r.Owner, r.Mandate)
	}
	for k := range ends {
		e := &ends[k]
		end := End{Index: e.Index}
		if e.Result == nil || e.Index >= r.Spec.Count {
			end.Err = fmt.Errorf("there is no end of a task %d", e.Index)
		} else {
			end.Signed, end.Err = c.Check(e)
		}
		x.Ends = append(x.Ends, end)
	}
	return x
}

// voters returns the members that have voted for the owner of an epoch, by its mandate; none of the first epoch, which
// is the origin's.
func (c *Chain) voters(epoch uint32, owner grid.NodeID, mandate string) (ids []grid.NodeID, err error) {
	if err := c.CheckOwner(epoch, owner, mandate, false); err != nil {
		return nil, err
	}
	for _, v := range votesOf(mandate) { // CheckOwner has left the members among whom they are
		ids = append(ids, c.after(int(c.voted.list)).members[v.Place])
	}
	return ids, nil
}
