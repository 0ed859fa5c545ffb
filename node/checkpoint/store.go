package checkpoint

import (
	"cmp"
	"slices"
	"time"

	"skep/grid"
)

// Config is what a store is told once.
type Config struct {
	Self    grid.NodeID
	Quota   grid.Bytes    // for checkpoints of jobs submitted elsewhere; half of it for those of one node
	Limit   grid.Bytes    // for a checkpoint, of all ranks together: a larger one is not kept
	Confirm time.Duration // how long a majority is waited for, besides a second for each minRate bytes
	Retry   time.Duration // after which what is unanswered is repeated
}

// Jobs is what is asked of the jobs here.
type Jobs interface {
	// Checkpointed returns what is known of a job; without a Spec it is not here, or over.
	Checkpointed(id grid.JobID) Job

	// Runs reports whether this node, as the owner of the job, has given that node that attempt, and no later one.
	Runs(from grid.NodeID, id grid.AttemptID) bool

	// Newest returns the newest attempt of a task or gang that this node, as the owner of the job, has made or knows of.
	Newest(id grid.TaskID) grid.Attempt

	// Over reports whether a task of a job that is here is never run again.
	Over(id grid.TaskID) bool
}

// Job is a job with checkpoints.
type Job struct {
	Spec    *grid.JobSpec
	Members []grid.NodeID // of its register; nil = this node alone keeps it
	Owner   grid.NodeID   // as far as known; zero = not known
	Leads   bool          // this node is the owner
	Since   uint32        // it made all attempts from this epoch on; 0 = all there are. Of others members may tell it
}

// Store is the checkpoints that this node keeps: of the jobs that it owns, and of those of whose registers it is a
// member.
type Store struct {
	cfg     Config
	units   map[grid.TaskID]*unit
	order   []*unit // as they came
	charged map[grid.NodeID]grid.Bytes
	total   grid.Bytes // of charged
	wake    bool       // a timer is pending
	witness witness
	claimed int // units with claims
	stale   uint64
}

// unit is a task, or all ranks of a gang, by the first.
type unit struct {
	id     grid.TaskID
	kept   set         // whole, and on disk
	coming set         // being fetched; step 0 = none is
	payer  grid.NodeID // charged for kept and coming; zero = not known yet
	gather *gather     // owner only: of the attempt that runs
	copies *copies     // owner only: who else keeps kept
	claims claims      // owner only, until it has made an attempt
	blame  blame       // owner only: of kept
	told   grid.NodeID // member only: the owner that knows of kept
	to     grid.NodeID // member only: the owner that is told, for so many ticks
	ticks  uint64
	given  grid.Attempt // owner only: the newest one offered, and what it begins from
	from   set
}

// set is a whole checkpoint: the files of all ranks, RANK/ before each path.
type set struct {
	by    grid.Attempt
	step  uint64
	files []grid.File // immutable

	shares []uint32 // of the work, by rank; nil = it was not divided, or not known how. Immutable
}

// is reports whether it is the set of that attempt and step.
func (x *set) is(by grid.Attempt, step uint64) bool { return x.by == by && x.step == step }

// newer reports whether a set of that attempt and step is newer: a later attempt has begun from what an earlier one
// left.
func (x *set) newer(by grid.Attempt, step uint64) bool {
	return x.step == 0 || x.by.Less(by) || x.by == by && x.step < step
}

// New returns a store with nothing in it.
func New(cfg Config) Store { return Store{cfg: cfg} }

// Stale is the number of messages that were ignored.
func (s *Store) Stale() uint64 { return s.stale }

// unitOf returns the task by which checkpoints of a task are known.
func unitOf(spec *grid.JobSpec, id grid.TaskID) grid.TaskID {
	if spec.IsGang() {
		id.Index = 0
	}
	return id
}

// ranksOf returns the number of ranks of an attempt.
func ranksOf(spec *grid.JobSpec, a grid.Attempt) int {
	if spec.IsGang() {
		return int(spec.Gang.RanksOf(a))
	}
	return 1
}

// rankOf returns which of the ranks a task is.
func rankOf(spec *grid.JobSpec, id grid.TaskID) int {
	if spec.IsGang() {
		return int(id.Index)
	}
	return 0
}

// look returns the unit of a task; a new one, which add puts into the store, if there is none.
func (s *Store) look(id grid.TaskID) *unit {
	if u := s.units[id]; u != nil {
		return u
	}
	return &unit{id: id}
}

func (s *Store) add(u *unit) {
	if s.units[u.id] != nil {
		return
	}
	if s.units == nil {
		s.units = make(map[grid.TaskID]*unit)
	}
	s.units[u.id] = u
	s.order = append(s.order, u)
}

func (s *Store) get(id grid.TaskID) *unit {
	u := s.look(id)
	s.add(u)
	return u
}

// empty reports whether nothing need be known of a unit.
func (u *unit) empty() bool {
	none := grid.Attempt{}
	return u.kept.step == 0 && u.coming.step == 0 && u.gather == nil && len(u.claims) == 0 && u.given == none &&
		u.blame.why == ""
}

// beganFromKept reports whether what is kept is what that attempt was given.
func (u *unit) beganFromKept(a grid.Attempt) bool {
	return u.given == a && u.from.is(u.kept.by, u.kept.step)
}

// fetch asks for the files of a set. They are deposits: the disk keeps its reserve, and a worker its rate.
func (u *unit) fetch(x *set, from grid.NodeID, others []grid.NodeID, fx *grid.Effects) {
	fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: grid.AttemptID{Task: u.id, Attempt: x.by}, From: from,
		Others: others, Files: x.files, Deposit: true, Step: x.step})
}

// drop forgets a unit, and its record.
func (s *Store) drop(u *unit, fx *grid.Effects) {
	s.unclaim(u)
	s.charge(u, -u.kept.room()-u.coming.room())
	s.deleteKept(u, fx)
	delete(s.units, u.id)
}

func (s *Store) deleteKept(u *unit, fx *grid.Effects) {
	if u.kept.step > 0 {
		rec := fx.Save(grid.RecCheckpoint)
		rec.Delete, rec.Later = true, true // after a crash it is looked for again
		rec.Checkpoint = &grid.CheckpointRecord{ID: grid.AttemptID{Task: u.id, Attempt: u.kept.by}}
	}
}

// keep makes the set that has come the one that is kept.
func (s *Store) keep(u *unit, fx *grid.Effects) {
	s.charge(u, -u.kept.room())
	u.kept, u.coming, u.blame = u.coming, set{}, blame{}
	rec := fx.Save(grid.RecCheckpoint)
	rec.Checkpoint = &grid.CheckpointRecord{ID: grid.AttemptID{Task: u.id, Attempt: u.kept.by}, Step: u.kept.step,
		Files: u.kept.files, Shares: u.kept.shares}
}

// forgo gives up the set that was to come.
func (s *Store) forgo(u *unit) {
	s.charge(u, -u.coming.room())
	u.coming = set{}
}

// Restore takes a record of an earlier run; payer is the owner of the job, or its origin.
func (s *Store) Restore(r *grid.CheckpointRecord, payer grid.NodeID) {
	u := s.get(r.ID.Task)
	u.kept, u.payer = set{by: r.ID.Attempt, step: r.Step, files: r.Files, shares: r.Shares}, s.payer(r.ID.Task, payer)
	s.charge(u, u.kept.room())
}

// Start orders what was restored, and begins to look after it.
func (s *Store) Start(now grid.Time, fx *grid.Effects) {
	slices.SortFunc(s.order, func(a, b *unit) int {
		return cmp.Or(a.id.Job.Compare(b.id.Job), cmp.Compare(a.id.Index, b.id.Index))
	})
	s.setTimer(now, fx)
}

func (s *Store) setTimer(now grid.Time, fx *grid.Effects) {
	if !s.wake && len(s.order) > 0 {
		s.wake = true
		fx.Wake(now.Add(s.cfg.Retry), grid.TimerCheckpoint, 0)
	}
}
