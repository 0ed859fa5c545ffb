package checkpoint

import (
	"fmt"
	"slices"
	"strconv"

	"skep/grid"
)

// The owner's side: the checkpoints that the ranks of an attempt have closed become a whole one.
//
//	Idle     → Taking    choose: all ranks have closed it
//	Taking   → Fetching  all ranks have named their files
//	Fetching → Spreading the files are here, and on disk: a restart begins from it
//	Spreading → Idle     a majority keeps it, or is not waited for any longer: it is usable
//	Taking, Fetching → Idle  a rank cannot take it, has dropped it, or the files did not come
type gather struct {
	attempt grid.Attempt
	ranks   []rank
	step    uint64 // being taken or fetched; 0 = none
	skip    uint64 // none up to this one is chosen again
	tries   int    // fetches of step
	vouched int    // fetches of what the workers vouch for
	usable  uint64 // kept by a majority, or that is not waited for any longer
	why     string
	news    bool // for the workers: step or usable has changed
}

// rank is what a rank of the attempt has said.
type rank struct {
	worker grid.NodeID // zero = nothing yet
	closed []uint64
	files  []grid.File // of gather.step
	shares []uint32    // its own, with files
	named  bool        // files are set
	sure   set         // what an earlier owner has called usable, as the worker says
}

// maxTries bounds the fetches of the files of a checkpoint.
const maxTries = 3

// Restarts reports whether a task of such a job may be run again by itself.
func Restarts(spec *grid.JobSpec) bool {
	return spec.Retries > 0 || spec.Rules.OnFailure.Retry > 0
}

// Report takes what a worker says of an attempt's checkpoints.
func (s *Store) Report(now grid.Time, from grid.NodeID, id grid.AttemptID, x *grid.Checkpoint, jobs Jobs,
	fx *grid.Effects) {
	vouches := x != nil && x.Step != 0 && x.Usable == x.Step
	if x == nil || len(x.Closed) == 0 && !vouches || len(x.Closed) > grid.MaxClosed || !slices.IsSorted(x.Closed) ||
		!jobs.Runs(from, id) {
		s.stale++
		return
	}
	j := jobs.Checkpointed(id.Task.Job)
	if j.Spec == nil || !j.Leads {
		s.stale++
		return
	}
	if !Restarts(j.Spec) {
		if len(x.Closed) > 0 {
			order(from, id, 0, x.Closed[len(x.Closed)-1], fx)
		}
		return
	}
	task, ranks := unitOf(j.Spec, id.Task), ranksOf(j.Spec, id.Attempt)
	u := s.get(task)
	if u.gather == nil || u.gather.attempt.Less(id.Attempt) {
		s.begin(u, id.Attempt, ranks)
	}
	g := u.gather
	if g.attempt != id.Attempt {
		s.stale++
		return
	}
	r := &g.ranks[rankOf(j.Spec, id.Task)]
	r.worker, r.closed = from, slices.Clone(x.Closed)
	if vouches {
		s.vouched(u, r, rankOf(j.Spec, id.Task), x, &j, jobs, fx)
	} else if g.step != 0 && x.Step == g.step && !r.named {
		if why := s.takeFiles(g, r, rankOf(j.Spec, id.Task), x); why != "" {
			s.abandon(u, why)
		}
	}
	s.advance(now, u, &j, fx)
	if !u.orderAll(fx) {
		u.orderRank(id, r, fx)
	}
	s.setTimer(now, fx)
}

// begin begins with a new attempt. What earlier ones have closed does not count.
func (s *Store) begin(u *unit, a grid.Attempt, ranks int) {
	if u.gather != nil && u.coming.step == u.gather.step {
		s.forgo(u)
	}
	u.gather = &gather{attempt: a, ranks: make([]rank, ranks)}
	if u.copies != nil && u.copies.settled && u.kept.by == a {
		u.gather.usable = u.kept.step
	}
}

// takeFiles takes the files that a rank names, and returns why they cannot be part of a checkpoint.
func (s *Store) takeFiles(g *gather, r *rank, number int, x *grid.Checkpoint) (why string) {
	if x.Refusal.Why != grid.WhyNone {
		return fmt.Sprintf("rank %d: %s", number, x.Refusal.Detail)
	}
	all := len(x.Files)
	for i := range g.ranks {
		all += len(g.ranks[i].files)
	}
	if all > grid.MaxCheckpointFiles {
		return fmt.Sprintf("it has more than %d files", grid.MaxCheckpointFiles)
	}
	files, ok := ofRank(number, x.Files)
	if !ok || len(x.Shares) > 1 {
		return fmt.Sprintf("rank %d names what is no file, or shares of others", number)
	}
	r.files, r.shares, r.named = files, x.Shares, true
	return ""
}

// ofRank returns the files of a rank with its number before each path; false = they cannot be files of a checkpoint.
func ofRank(number int, files []grid.File) (out []grid.File, ok bool) {
	out = make([]grid.File, 0, len(files))
	for _, f := range files {
		if !validPath(f.Path) || f.Blob.IsZero() || f.Size < 0 {
			return nil, false
		}
		f.Path = strconv.Itoa(number) + "/" + f.Path
		out = append(out, f)
	}
	return out, true
}

func validPath(p string) bool {
	return len(p) <= grid.MaxCheckpointPath && grid.Inside(p) && grid.Printable(p)
}

// abandon gives up the checkpoint that is being taken.
func (s *Store) abandon(u *unit, why string) {
	g := u.gather
	s.forgo(u)
	g.skip, g.step, g.tries, g.why = g.step, 0, 0, grid.Clean(why, grid.MaxText)
	for i := range g.ranks {
		g.ranks[i].files, g.ranks[i].named = nil, false
	}
}

// advance goes on as far as that is possible now.
func (s *Store) advance(now grid.Time, u *unit, j *Job, fx *grid.Effects) {
	g := u.gather
	if g == nil || u.coming.step != 0 {
		return
	}
	if g.step != 0 && slices.ContainsFunc(g.ranks, func(r rank) bool {
		return !r.named && !slices.Contains(r.closed, g.step)
	}) {
		s.abandon(u, "a rank has it no more")
	}
	if g.step == 0 && (u.copies == nil || u.copies.settled) {
		g.step = g.newest(max(u.past(), g.skip))
		g.news = g.news || g.step != 0
	}
	if g.step == 0 || slices.ContainsFunc(g.ranks, func(r rank) bool { return !r.named }) {
		return
	}
	x := set{by: g.attempt, step: g.step}
	var from grid.NodeID // zero = all files are here
	var others []grid.NodeID
	for i := range g.ranks {
		r := &g.ranks[i]
		x.files, x.shares = append(x.files, r.files...), append(x.shares, r.shares...)
		if r.worker != s.cfg.Self && len(r.files) > 0 {
			if from.IsZero() {
				from = r.worker
			} else if !slices.Contains(others, r.worker) {
				others = append(others, r.worker)
			}
		}
	}
	if len(x.shares) != len(g.ranks) {
		x.shares = nil
	}
	if len(x.files) == 0 {
		s.abandon(u, "it has no files")
		return
	}
	if why := s.admit(u, &x, u.id.Job.Origin); why.Why != grid.WhyNone {
		s.abandon(u, why.Why.String()+": "+why.Detail)
		return
	}
	u.coming = x
	if from.IsZero() {
		s.whole(now, u, j, fx)
		return
	}
	u.fetch(&x, from, others, fx)
}

// past returns the step up to which checkpoints of the attempt that runs are no news. One that was given what is kept
// has gone on from there, or has rejected it, whatever its own numbers are. What another one, such as a backup attempt,
// began from is not known.
func (u *unit) past() uint64 {
	if a := u.gather.attempt; u.kept.by != a && u.beganFromKept(a) {
		return 0
	}
	return u.kept.step
}

// newest returns the newest checkpoint that all ranks have closed, after the given one; 0 = none.
func (g *gather) newest(after uint64) uint64 {
	for _, k := range slices.Backward(g.ranks[0].closed) {
		if k > after && !slices.ContainsFunc(g.ranks, func(r rank) bool { return !slices.Contains(r.closed, k) }) {
			return k
		}
	}
	return 0
}

// whole records that the checkpoint is here, and has the members keep it.
func (s *Store) whole(now grid.Time, u *unit, j *Job, fx *grid.Effects) {
	g := u.gather
	s.keep(u, fx)
	g.step, g.tries, g.why = 0, 0, ""
	for i := range g.ranks {
		g.ranks[i].files, g.ranks[i].named = nil, false
	}
	u.copies = newCopies(now, s.cfg, u, j.Members)
	s.spread(now, u, j, fx)
}

// spread has the members keep what this node, the owner, keeps, until that need not be waited for any longer.
func (s *Store) spread(now grid.Time, u *unit, j *Job, fx *grid.Effects) {
	c := u.copies
	c.ask(now, s.cfg, u, j.Members, fx)
	if c.settled || !c.settle(now) {
		return
	}
	if g := u.gather; g != nil {
		if u.kept.by == g.attempt {
			g.usable, g.news = u.kept.step, true
		}
		s.advance(now, u, j, fx)
	}
}
