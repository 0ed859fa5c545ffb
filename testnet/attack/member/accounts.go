package member

import (
	"encoding/hex"
	"fmt"
	"time"

	"skep/grid"
)

// Accounts are folders of the attacked node whose tasks run as an account of its machine.
type Accounts struct {
	Open    string         // for everybody's tasks
	Guarded string         // for those of Trusted alone
	Trusted grid.Submitter // whose node has no part in the network
}

// offerEvery is the time between offers whose tasks are to run: more at once would be refused for their number.
const offerEvery = 50 * time.Millisecond

// accountOffer is a task that runs in the folder of an account, under every claim of who has submitted it. Now and then
// it is one that anybody may run, in the open folder: these run, so it is no other fault that keeps the others away.
func (s *siege) accountOffer() (*grid.Message, error) {
	time.Sleep(offerEvery)
	job, trusted := s.job(), s.Accounts.Trusted
	spec := &grid.JobSpec{Engine: grid.EngineProcess, Count: 1,
		Command: []string{"touch", hex.EncodeToString(job.Nonce[:])},
		Needs:   grid.Needs{Resources: grid.Resources{CPU: grid.CPU / 10}}}
	work := s.Accounts.Guarded
	if s.n%6 == 0 {
		work = s.Accounts.Open
	}
	spec.AddFolders(grid.Folders{Work: work})
	var members []grid.NodeID
	var err error
	switch s.n % 6 {
	case 0: // what anybody may
		spec, err = s.m.Spec(job, spec, "hostile")
	case 1: // a user of the same name at its own node
		spec, err = s.m.Spec(job, spec, trusted.User)
	case 2: // a user whose name is that of the other node's
		spec, err = s.m.Spec(job, spec, fmt.Sprintf("%s@%s", trusted.User, trusted.Node))
	case 3: // the other node's user, in a job of its own
		spec, err = s.m.Forged(job, spec, trusted)
	case 4: // the other node's job, as if that had lost it and this member had taken it over
		spec, err = s.m.Forged(job, spec, trusted)
		job.Origin = trusted.Node
		members = []grid.NodeID{trusted.Node, s.m.Self()}
	case 5: // the job of a version that signs nothing
		job.Origin = trusted.Node
		members = []grid.NodeID{trusted.Node, s.m.Self()}
	}
	id := attempt(job, 0)
	if members != nil {
		id.Epoch = 2
	}
	return &grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{ID: id, Spec: spec, Members: members, Class: "x",
		Lease: time.Minute}}, err
}

// grantLease answers a node that asks whether tasks of the member may start.
func (s *siege) grantLease(m *grid.Message) {
	if m.Kind == grid.KindStartLease {
		s.talk.Say(&grid.Message{Kind: grid.KindStartLeaseAck, Attempts: m.Attempts,
			Register: grid.RegisterMessage{Seq: m.Register.Seq}})
	}
}
