package grid

// Submitter is who submitted a job. Rights, limits and log lines go by it. The zero value is nobody that is known: the
// job is from an older version.
type Submitter struct {
	Node NodeID // the job's origin
	User string // of the operating system there, as that node found; "" = it could not
}

// check rejects a user that would look like something else where people read it.
func (s *Submitter) check(p *problems) {
	p.text("submitter.user", s.User, MaxUser)
	if !Printable(s.User) {
		p.addf("submitter.user %+q: want printable text", s.User)
	}
}
