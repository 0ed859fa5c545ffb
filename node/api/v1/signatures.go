package v1

// Signatures are what a node has found of the signatures of a job that it keeps. Nodes are named by their IDs.
type Signatures struct {
	Job     string            `json:"job"`
	By      string            `json:"checked_by" doc:"The node that has checked them, by what it keeps itself."`
	Signed  bool              `json:"signed" doc:"False: the job is not signed, and there is nothing to check."`
	Count   int               `json:"count" doc:"Of the job's tasks."`
	Origin  *SignedOrigin     `json:"origin,omitempty"`
	Members *SignedMembers    `json:"members,omitempty"`
	Owner   *SignedOwner      `json:"owner,omitempty" doc:"Of the newest epoch that the node knows of; none: it has heard of no owner yet."`
	Tasks   []SignedTask      `json:"tasks" doc:"By index."`
	Names   map[string]string `json:"names,omitempty" doc:"Of nodes here, as far as they are known."`
	Next    *uint32           `json:"next,omitempty" doc:"Ask again with from=NEXT for more tasks."`
}

// SignedOrigin is what the node signs that a job was submitted to: the specification, and who keeps the job at first.
type SignedOrigin struct {
	Node    string   `json:"node"`
	Members []string `json:"members"`
	NotKept bool     `json:"not_kept,omitempty" doc:"Its signature is not kept: the job is over, and its origin alone keeps it and is the node that checks."`
	Problem string   `json:"problem,omitempty" doc:"What is wrong with the signature, or that there is none."`
}

// SignedMembers is who keeps a job now: each change is signed by a majority before it and by one after it.
type SignedMembers struct {
	Nodes   []string `json:"nodes"`
	Changes uint32   `json:"changes"`
	Problem string   `json:"problem,omitempty"`
}

// SignedOwner is the owner of an epoch, for whom a majority of those that keep the job votes.
type SignedOwner struct {
	Node    string   `json:"node"`
	Epoch   uint32   `json:"epoch"`
	Voters  []string `json:"voters,omitempty" doc:"None of the first epoch, which is the origin's."`
	Problem string   `json:"problem,omitempty"`
}

// SignedTask is who has signed how a task ended.
type SignedTask struct {
	Index   uint32 `json:"index"`
	State   string `json:"state" enum:"pending,offered,placed,ended"`
	Attempt string `json:"attempt,omitempty" doc:"EPOCH.N, of a task that has ended."`
	Cause   string `json:"cause,omitempty"`
	Exit    int32  `json:"exit_code,omitempty"`
	Worker  string `json:"worker,omitempty" doc:"The node that ran it and has signed how it ended; none where it ended without a worker: its owner has signed that."`
	Owner   string `json:"owner,omitempty" doc:"The node that gave the attempt to the worker, or ended the task."`
	Epoch   uint32 `json:"epoch,omitempty" doc:"Of that owner."`
	Problem string `json:"problem,omitempty" doc:"Of one that has ended: which signature is missing or wrong."`
}

// Holds reports whether nothing is wrong with the links that all tasks rest on.
func (s *Signatures) Holds() bool {
	return s.Signed && s.Origin != nil && s.Origin.Problem == "" && s.Members != nil && s.Members.Problem == "" &&
		(s.Owner == nil || s.Owner.Problem == "")
}
