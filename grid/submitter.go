package grid

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
