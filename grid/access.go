package grid

// Access says who may see more of a job than its ID, name, submitter, state and counts, and who may cancel it.
type Access string

// The kinds of access.
const (
	AccessMembers Access = "members" // any member of the network
	AccessOwner   Access = "owner"   // whoever has the job's capability
)

// CapabilityHash is the hash of the public key of a job's capability, whose private key its submitter keeps. The zero
// value is none.
type CapabilityHash [32]byte

// IsZero reports whether there is no capability.
func (h CapabilityHash) IsZero() bool { return h == CapabilityHash{} }

// Access returns who may see the job and cancel it.
func (s *JobSpec) Access() Access {
	if s.Capability.IsZero() {
		return AccessMembers
	}
	return AccessOwner
}

// Submitter is who submitted a job: the subject of rights, limits and log lines. The zero value is unknown: the job is
// from an older version.
type Submitter struct {
	Node NodeID // the job's origin
	User string // of its operating system, as that node determined; "" = it could not
}

// check rejects a user's name that would be displayed as something else.
func (s *Submitter) check(p *problems) {
	p.text("submitter.user", s.User, MaxUser)
	if !Printable(s.User) {
		p.addf("submitter.user %+q: want printable text", s.User)
	}
}
