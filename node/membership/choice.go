package membership

import (
	"fmt"
	"slices"

	"skep/grid"
)

// candidates are the nodes that can become members, at one time.
type candidates struct {
	connected []*grid.Ad
	alive     []*grid.Ad // those that have answered a keepalive just now
}

// candidatesFor lists the candidates for jobs whose members must have some features.
func (s *Submissions) candidatesFor(now grid.Time, features grid.FeatureSet) (c candidates) {
	c.connected = s.cfg.Contacts.Candidates(features)
	for _, ad := range c.connected {
		if s.cfg.Keepalives.IsAlive(now, ad.Node) {
			c.alive = append(c.alive, ad)
		}
	}
	return c
}

// choose tries to choose the members of pending submissions: of those that have waited for probeRetry, of some, and of
// those without probes yet. If ask is set it probes more candidates for the rest.
func (s *Submissions) choose(now grid.Time, waiters []*pendingSubmission, ask bool, fx *grid.Effects) []Job {
	for _, q := range s.queues {
		if len(q.waiting) > 0 {
			s.chooseFor(now, q, waiters, ask, fx)
		}
	}
	chosen := s.chosen
	s.chosen = nil
	return chosen
}

// chooseFor does so for the submissions of one queue.
func (s *Submissions) chooseFor(now grid.Time, q *queue, waiters []*pendingSubmission,
	ask bool, fx *grid.Effects) {
	c := s.candidatesFor(now, q.features)
	for _, p := range q.waiting { // oldest first: none after one that still waits can succeed
		if !p.done && (now < p.Since.Add(probeRetry) || !s.try(now, p, &c, fx)) {
			break
		}
	}
	for _, p := range waiters {
		if !p.done && s.queueOf(p.Spec) == q {
			s.try(now, p, &c, fx)
		}
	}
	for len(q.unprobed) > 0 && (q.unprobed[0].done || s.try(now, q.unprobed[0], &c, fx)) {
		q.unprobed[0], q.unprobed = nil, q.unprobed[1:] // what does not suffice for the oldest does not for the others
	}
	if q.trim(); len(q.waiting) > 0 && ask {
		s.probe(now, q, c.connected, fx)
	}
}

// try chooses the members of a submission if enough candidates have answered, and reports whether the submission is
// done. The register gets fewer members than configured only if too few nodes are connected, or if too few have
// answered after Config.Confirm.
func (s *Submissions) try(now grid.Time, p *pendingSubmission, c *candidates, fx *grid.Effects) bool {
	if len(c.connected)+1 < s.cfg.Members && s.expectsMore(now, p.Since, len(c.connected)) {
		return false
	}
	late := now >= p.Since.Add(s.cfg.Confirm)
	alive := s.withRoom(c.alive, p.Spec)
	full := len(c.alive) - len(alive)
	want := min(s.cfg.Members, len(c.connected)|1)
	if now < p.Since.Add(probeRetry) && len(p.probed) > 0 {
		other := func(ad *grid.Ad) bool { return !slices.Contains(p.probed, ad.Node) }
		alive = slices.DeleteFunc(slices.Clone(alive), other)
	}
	switch {
	case want < 3:
		s.chosen = append(s.chosen, p.Job)
	case len(alive) >= want-1:
		s.choseOthers(p, alive, want-1)
	case late && len(alive) >= 2:
		s.choseOthers(p, alive, 2)
	case late:
		s.refuse(p, len(c.connected), full, fx)
	default:
		return false
	}
	s.remove(p)
	return true
}

// choseOthers makes some of the nodes that are alive members of a job.
func (s *Submissions) choseOthers(p *pendingSubmission, alive []*grid.Ad, others int) {
	job := p.Job
	job.Others = s.spread(alive, others)
	s.chosen = append(s.chosen, job)
}

// refuse tells the callers that the job was not taken; full is the number of nodes that answered and have no room for
// it.
func (s *Submissions) refuse(p *pendingSubmission, connected, full int, fx *grid.Effects) {
	text := fmt.Sprintf("job %s: was not taken: of the %d nodes connected to this one no two have said within %v that "+
		"they will keep its record; submit it again, perhaps to another node", p.ID.Short(), connected, s.cfg.Confirm)
	if full > 0 {
		text += fmt.Sprintf(", or when fewer jobs of this one go on: %d of them keep as much of it as they may", full)
	}
	for _, caller := range p.Callers {
		fx.Reply(caller, p.ID, text)
	}
}

// probe sends keepalives to a few candidates to find live ones. The submissions that had none to wait for wait for
// these.
func (s *Submissions) probe(now grid.Time, q *queue, connected []*grid.Ad, fx *grid.Effects) {
	probed := s.spread(connected, s.cfg.Members+1)
	for _, id := range probed {
		s.cfg.Keepalives.Probe(now, id, probeRetry, fx)
	}
	if len(probed) == 0 {
		return
	}
	for _, p := range q.unprobed { // oldest first, as in await
		if p.done {
			continue
		}
		p.probed = probed
		for _, id := range probed {
			s.await(id, p)
		}
	}
	q.unprobed = nil
}

// expectsMore reports whether more nodes are about to connect: this node has just started and knew more, or a peer has
// not sent its ad yet.
func (s *Submissions) expectsMore(now, since grid.Time, connected int) bool {
	if s.cfg.Known > connected && s.cfg.Known >= 2 && now < s.started.Add(startupGrace) {
		return true
	}
	return now < since.Add(2*probeRetry) && s.cfg.Contacts.ExpectsAds()
}

// withRoom returns the candidates that have not reported too little quota for a job.
func (s *Submissions) withRoom(alive []*grid.Ad, spec *grid.JobSpec) []*grid.Ad {
	full := func(ad *grid.Ad) bool {
		room := s.cfg.Keepalives.Room(ad.Node)
		return room > 0 && spec.Count >= room
	}
	if !slices.ContainsFunc(alive, full) {
		return alive
	}
	return slices.DeleteFunc(slices.Clone(alive), full)
}
