package retention

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// keeper has jobs with a clock that the test drives.
type keeper struct {
	Jobs
	now    grid.Time
	timers []grid.Time
	gone   []string // as they went, with the reasons
	number map[*Job]int
	awaits map[int]bool
}

func newKeeper(c Config) *keeper {
	k := &keeper{Jobs: New(c, 0), now: grid.Time(time.Hour), number: map[*Job]int{}, awaits: map[int]bool{}}
	k.start = k.now
	return k
}

func id(n int) grid.JobID { return grid.JobID{Nonce: [10]byte{byte(n >> 8), byte(n)}} }

func file(n int, size grid.Bytes) grid.File {
	return grid.File{Blob: grid.BlobID{byte(n), byte(n >> 8), 1}, Size: size}
}

func (k *keeper) open(n int, spec grid.JobSpec) *Job {
	j := k.Open(id(n), &spec)
	k.number[j] = n
	return j
}

// ended has a job come and end now.
func (k *keeper) ended(n int, files ...grid.File) *Job {
	j := k.open(n, grid.JobSpec{})
	k.End(j, k.now, files)
	k.look()
	return j
}

// look lets go what is to go now.
func (k *keeper) look() {
	for range MostAtOnce {
		j, why := k.Next(k.now)
		if j == nil {
			break
		}
		if k.awaits[k.number[j]] {
			k.SetAside(k.now, j)
			continue
		}
		k.gone = append(k.gone, fmt.Sprintf("%d by %v", k.number[j], why))
		k.Forget(j)
	}
	if at, set := k.Looked(k.now); set {
		k.timers = append(k.timers, at)
	}
}

// pass lets the clock go on; only timers have it look.
func (k *keeper) pass(d time.Duration) {
	end := k.now.Add(d)
	for len(k.timers) > 0 {
		slices.Sort(k.timers)
		if k.timers[0] > end {
			break
		}
		k.now, k.timers = max(k.now, k.timers[0]), k.timers[1:]
		k.woke(k.now)
		k.look()
	}
	k.now = end
}

func (k *keeper) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(k.gone, want) {
		t.Errorf("after %v have gone: %v, want %v", k.now, k.gone, want)
	}
}

// The oldest ends go until what is left is within the number, and none within the grace.
func TestOldestGoByNumber(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Jobs: 2}})
	for n := range 4 {
		k.ended(n)
		k.pass(time.Second)
	}
	k.pass(Grace - 5*time.Second)
	k.want(t)
	k.pass(10 * time.Second)
	k.want(t, "0 by jobs", "1 by jobs")
}

// An age is counted from each end, and the newest goes like any other.
func TestEachGoesByAge(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Age: time.Hour}})
	k.ended(0)
	k.pass(10 * time.Minute)
	k.ended(1)
	k.pass(50*time.Minute - time.Second)
	k.want(t)
	k.pass(time.Second)
	k.want(t, "0 by age")
	k.pass(10 * time.Minute)
	k.want(t, "0 by age", "1 by age")
}

// The bytes are those that only jobs which are over hold: a file is counted once, and not while a job that goes on has
// it as an input. Jobs without files stay, and so does the newest, however large it is.
func TestOldestWithFilesGoByBytes(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Bytes: 100}})
	shared := file(1, 60)
	uses := k.open(100, grid.JobSpec{Inputs: []grid.File{shared}})
	k.ended(0)
	k.ended(1, shared, file(2, 50))
	k.ended(2, shared, file(3, 50))
	k.pass(2 * Grace)
	if k.Bytes() != 100 {
		t.Errorf("%d bytes are held, want 100", k.Bytes())
	}
	k.want(t)
	k.End(uses, k.now, nil) // from now on nobody else has the shared one
	if k.Bytes() != 160 {
		t.Errorf("%d bytes are held, want 160", k.Bytes())
	}
	k.look()
	k.want(t, "1 by bytes", "2 by bytes")
	late := k.ended(3)
	k.Hold(late, []grid.File{file(4, 1000)})
	k.pass(2 * Grace)
	k.look()
	k.want(t, "1 by bytes", "2 by bytes")
	k.ended(4)
	k.pass(2 * Grace)
	k.want(t, "1 by bytes", "2 by bytes", "3 by bytes")
	if k.Bytes() != 0 || len(k.blobs.index) != 0 || k.Len() != 3 {
		t.Errorf("%d bytes of %d files are held by %d jobs", k.Bytes(), len(k.blobs.index), k.Len())
	}
}

// What has a job held back is looked at again after a minute; it is then in its old place. The others go meanwhile.
func TestWhoIsAwaitedStays(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Age: time.Hour}})
	k.awaits[0] = true
	for n := range 3 {
		k.ended(n)
		k.pass(10 * time.Second)
	}
	k.pass(2 * time.Hour)
	k.want(t, "1 by age", "2 by age")
	k.ended(3)
	delete(k.awaits, 0)
	k.pass(time.Minute)
	k.want(t, "1 by age", "2 by age", "0 by age")
}

// The newest end stays though older ones are set aside, and is not taken for the newest when one of these is newer.
func TestNewestStaysBesideAwaited(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Jobs: 1}})
	k.awaits[0] = true
	k.ended(0)
	k.pass(time.Second)
	k.ended(1)
	k.pass(time.Hour)
	k.want(t)
	k.awaits[1] = true
	k.ended(2)
	k.pass(time.Hour)
	k.want(t)
	delete(k.awaits, 1)
	k.pass(time.Hour)
	k.want(t, "1 by jobs")
}

// A job goes also if the only newer one is set aside.
func TestNewerOneMayBeSetAside(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Jobs: 1}})
	older, newer := k.open(0, grid.JobSpec{}), k.open(1, grid.JobSpec{})
	k.End(older, k.now, nil)
	k.End(newer, k.now, nil)
	k.now = k.now.Add(Grace)
	k.SetAside(k.now, newer)
	if j, why := k.Next(k.now); j != older || why != ByNumber {
		t.Errorf("%+v goes next, by %v", j, why)
	}
}

// Each bound has its time: a timer that is set for later does not hide an earlier one.
func TestEarlierBoundIsNotMissed(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Jobs: 1, Age: 10 * Day}})
	k.ended(0)
	k.pass(time.Hour)
	k.ended(1)
	k.pass(time.Second)
	k.want(t, "0 by jobs")
	k.ended(2)
	k.pass(Grace - 2*time.Second)
	k.want(t, "0 by jobs")
	k.pass(2 * time.Second)
	k.want(t, "0 by jobs", "1 by jobs")
}

// A timer that was set for later than another one is stale when it fires: each of them would else be set anew for ever.
func TestTimersDoNotGrowInNumber(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Jobs: 1, Age: 10 * Day}})
	k.awaits[0], k.awaits[1] = true, true
	for n := range 100 {
		k.ended(n)
		k.pass(30 * time.Minute)
	}
	k.pass(20 * Day)
	if len(k.timers) > 1 || k.Len() != 2 {
		t.Errorf("%d timers are set, for %d jobs", len(k.timers), k.Len())
	}
}

// A job that goes on holds back what it follows, until it is over.
func TestWhatAnotherFollowsIsNeeded(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Jobs: 1}})
	follows := grid.JobSpec{TaskData: grid.TaskData{After: grid.After{Jobs: []grid.Dependency{{Job: id(0)}}}}}
	j := k.open(1, follows)
	if !k.needs(id(0)) || k.needs(id(1)) {
		t.Error("the job that is followed is not needed, or another one is")
	}
	k.End(j, k.now, nil)
	if k.needs(id(0)) {
		t.Error("it is needed by a job that is over")
	}
	k.Reopen(j, &follows)
	if !k.needs(id(0)) || k.Len() != 0 {
		t.Error("it is not needed by a job that goes on again")
	}
	if k.Forget(j); k.needs(id(0)) || len(k.needed) != 0 {
		t.Error("it is needed by a job that is forgotten")
	}
}

// A node's own jobs go for its own ones alone, however many it keeps for others.
func TestGroupsAreBoundedEach(t *testing.T) {
	self := grid.NodeID{1}
	g := NewGroups(self, Config{Bounds: Bounds{Jobs: 2, Bytes: 100}}, 0)
	g.Start(1)
	end := func(origin grid.NodeID, n int, files ...grid.File) {
		id := id(n)
		id.Origin = origin
		s := g.Of(id)
		s.End(s.Open(id, new(grid.JobSpec)), 1, files)
	}
	end(self, 0, file(1, 60))
	end(self, 1)
	for n := range 5 {
		end(grid.NodeID{2}, n, file(1, 60), file(n, 60))
	}
	now := grid.Time(time.Hour)
	for i, want := range []int{0, 4} {
		gone := 0
		for j, _ := g.by[i].Next(now); j != nil; j, _ = g.by[i].Next(now) {
			g.by[i].Forget(j)
			gone++
		}
		if gone != want {
			t.Errorf("%d of group %d go, want %d", gone, i, want)
		}
	}
	if c := g.Counts(); c.Jobs != 3 || c.Bytes != 60+2*60 {
		t.Errorf("%+v are left, want the own ones, and the newest of the others", c)
	}
}

// What a job that goes on says of the size of a file does not count: it need not have it.
func TestSizesAreThoseOfHolders(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Bytes: 100}})
	lies := k.open(0, grid.JobSpec{Inputs: []grid.File{file(1, 1<<60)}})
	k.ended(1, file(1, 10))
	k.End(lies, k.now, nil)
	if k.Bytes() != 10 {
		t.Errorf("%d bytes are held, want 10", k.Bytes())
	}
}

// So many go in one step at most, a second passes before the next.
func TestFewGoAtOnce(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Age: time.Hour}})
	for n := range 3 * MostAtOnce {
		k.ended(n)
	}
	k.pass(time.Hour)
	for _, want := range []int{1, 1, 2, 2, 3, 3} {
		if len(k.gone) != want*MostAtOnce {
			t.Fatalf("%d have gone after %v, want %d", len(k.gone), k.now, want*MostAtOnce)
		}
		k.pass(pause / 2)
	}
}

// Ages of an earlier run are what the wall clock says, but count a day at most of each time in which the node did not
// run: a clock that is ahead lets nothing go that is younger, nor does one that was behind, at the next start or at
// those after it. A clock that is behind makes no end one of the future.
func TestWallClockMayBeWrong(t *testing.T) {
	const year = 365 * Day
	gap := func(from, to time.Duration) Gap { return Gap{int64(50*year + from), int64(50*year + to)} }
	for _, c := range []struct {
		what       string
		ended, now time.Duration
		gaps       []Gap
		want       time.Duration
	}{
		{"stopped for a minute", 0, 10 * Day, []Gap{gap(9*Day, 9*Day+time.Minute)}, 10 * Day},
		{"was switched off for a week", 0, 10 * Day, []Gap{gap(3*Day, 10*Day)}, 4 * Day},
		{"was switched off twice", 0, 10 * Day, []Gap{gap(Day, 4*Day), gap(5*Day, 9*Day)}, 5 * Day},
		{"was switched off before the end", 5 * Day, 10 * Day, []Gap{gap(0, 4*Day)}, 5 * Day},
		{"the clock is 20 years ahead", 0, 20 * year, []Gap{gap(time.Hour, 20*year)}, Day + time.Hour},
		{"the same after another start", 0, 20*year + Day, []Gap{gap(time.Hour, 20*year), gap(20*year+Day, 20*year+Day)},
			2*Day + time.Hour},
		{"the clock was 50 years behind", -50 * year, Day, []Gap{gap(time.Hour-50*year, 0)}, 2*Day + time.Hour},
		{"the clock is behind the end", 0, -year, []Gap{gap(time.Hour, -year)}, 0},
		{"the clock was 20 years ahead for a run", 0, 2 * Day, []Gap{gap(time.Hour, 20*year)}, 0},
		{"a clock that was set back does not count twice", 0, 2 * Day, []Gap{gap(Day, 0)}, 2 * Day},
	} {
		k := newKeeper(Config{Bounds: Bounds{Age: 10*Day + time.Hour}, Gaps: &c.gaps})
		ended := k.EndedBefore(int64(50*year+c.now), int64(50*year+c.ended))
		if got := time.Duration(k.now - ended); got != c.want {
			t.Errorf("%s: its age is %v, want %v", c.what, got, c.want)
		}
		k.End(k.open(0, grid.JobSpec{}), ended, nil)
		k.look()
		k.pass(Grace - time.Second)
		k.want(t)
		k.pass(10*Day + time.Hour - c.want)
		k.want(t, "0 by age")
	}
}

// What is beyond its bound when the node starts has the grace all the same.
func TestNothingGoesAtTheStart(t *testing.T) {
	k := newKeeper(Config{Bounds: Bounds{Age: time.Hour}})
	k.End(k.open(0, grid.JobSpec{}), k.EndedBefore(int64(time.Hour)*24, 0), nil)
	k.look()
	k.pass(Grace - time.Second)
	k.look()
	k.want(t)
	k.pass(time.Second)
	k.want(t, "0 by age")
}

// What has gone is remembered, the newest of it; a reason is told in words that name the bound.
func TestGoneIsRemembered(t *testing.T) {
	var g Gone
	why := func(n int) Why {
		_, why := g.Find(func(x grid.JobID, _ string) bool { return x == id(n) })
		return why
	}
	for n := range mostGone + 10 {
		g.Note(id(n), fmt.Sprint("name", n%7), ByNumber)
	}
	g.Note(id(mostGone), "", ByAge)
	if why(10) != Kept || why(11) != ByNumber || why(mostGone) != ByAge || why(mostGone+1) != ByNumber || len(g.ring) !=
		mostGone {
		t.Errorf("%v, %v, %v, %v of %d", why(10), why(11), why(mostGone), why(mostGone+1), len(g.ring))
	}
	newest := mostGone + 9 - (mostGone+9)%7
	if x, _ := g.Find(func(_ grid.JobID, name string) bool { return name == "name0" }); x != id(newest) {
		t.Errorf("%v is the newest of its name, want %d", x, newest)
	}
	if n := g.count; n[ByNumber] != mostGone+10 || n[ByAge] != 1 {
		t.Errorf("counted are %v", n)
	}
	b := Bounds{Jobs: 12, Age: 36 * time.Hour, Bytes: 3 * grid.GiB}
	for why := range reasons {
		if text := why.Text(&b, 7); (text == "") != (why == Kept) {
			t.Errorf("%v: %q", why, text)
		} else {
			t.Log(text)
		}
	}
}

// model is a job as a plain list has it.
type model struct {
	j      *Job
	n      int
	over   bool
	ended  grid.Time
	seq    int
	files  []grid.File
	inputs []grid.File
}

func modelBytes(all []*model) (bytes grid.Bytes) {
	open, over := map[grid.BlobID]bool{}, map[grid.BlobID]grid.Bytes{}
	for _, m := range all {
		for _, f := range m.inputs {
			open[f.Blob] = !m.over || open[f.Blob]
		}
		for _, f := range m.files {
			over[f.Blob] = f.Size
		}
	}
	for b, size := range over {
		if !open[b] {
			bytes += size
		}
	}
	return bytes
}

// modelNext is the job that is to go, by a look at all of them.
func modelNext(k *keeper, all []*model, c *Bounds) *model {
	var over []*model
	for _, m := range all {
		if m.over {
			over = append(over, m)
		}
	}
	slices.SortFunc(over, func(a, b *model) int { return cmp.Or(cmp.Compare(a.ended, b.ended), a.seq-b.seq) })
	for i, m := range over {
		ripe, newest := k.now >= max(m.ended, k.start).Add(Grace), i == len(over)-1
		first := i == 0
		switch {
		case !ripe:
		case first && k.now >= m.ended.Add(c.Age),
			first && len(over) > c.Jobs && !newest,
			!newest && len(m.files) > 0 && modelBytes(all) > c.Bytes:
			return m
		}
	}
	return nil
}

// Random jobs against a plain list.
func TestJobsAgainstModel(t *testing.T) {
	for seed := range uint64(5) {
		r := grid.NewRand(seed, 1)
		c := Bounds{Jobs: 20, Age: time.Hour, Bytes: 400}
		k := newKeeper(Config{Bounds: c})
		var all []*model
		some := func(n int) (files []grid.File) {
			for range r.IntN(n) {
				x := r.IntN(40)
				files = append(files, file(x, grid.Bytes(x)))
			}
			return files
		}
		for step := range 700 {
			k.now = k.now.Add(time.Duration(r.IntN(int(20 * time.Second))))
			var m *model
			if len(all) > 0 {
				m = all[r.IntN(len(all))]
			}
			switch x := r.IntN(8); {
			case x < 3 || m == nil:
				spec := grid.JobSpec{Inputs: some(3)}
				all = append(all, &model{j: k.open(step, spec), n: step, inputs: spec.Inputs})
			case x < 6 && !m.over:
				m.over, m.ended, m.seq, m.files = true, k.now, step, some(5)
				k.End(m.j, k.now, m.files)
			case x == 6 && m.over:
				further := some(3)
				m.files = append(m.files, further...)
				k.Hold(m.j, further)
			case x == 7 && m.over && r.IntN(4) == 0:
				m.over, m.files = false, nil
				k.Reopen(m.j, &grid.JobSpec{Inputs: m.inputs})
			case x == 7 && r.IntN(4) == 0:
				k.Forget(m.j)
				all = slices.DeleteFunc(all, func(o *model) bool { return o == m })
			}
			for {
				want, _ := modelNext(k, all, &c), 0
				got, why := k.Next(k.now)
				if want == nil != (got == nil) || got != nil && got != want.j {
					t.Fatalf("seed %d step %d: %+v by %v goes next, want %+v", seed, step, got, why, want)
				}
				if got == nil {
					break
				}
				k.Forget(got)
				all = slices.DeleteFunc(all, func(o *model) bool { return o == want })
			}
			if k.Bytes() != modelBytes(all) {
				t.Fatalf("seed %d step %d: %d bytes are held, want %d", seed, step, k.Bytes(), modelBytes(all))
			}
		}
	}
}

// Wrong bounds are told, all at once.
func TestBoundsAreChecked(t *testing.T) {
	for _, c := range []struct {
		b  Bounds
		ok bool
	}{
		{Bounds{}, true},
		{Bounds{Jobs: 1, Age: Grace, Bytes: 1}, true},
		{Bounds{Age: mostAge}, true},
		{Bounds{Jobs: -1}, false},
		{Bounds{Age: Grace - 1}, false},
		{Bounds{Age: mostAge + 1}, false},
		{Bounds{Bytes: -1}, false},
	} {
		if err := c.b.Check(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.b, err)
		}
	}
	for d, want := range map[time.Duration]string{30 * Day: "30d", 36 * time.Hour: "1d12h0m0s", time.Hour: "1h0m0s"} {
		if got := AgeText(d); got != want {
			t.Errorf("%v is written %s, want %s", d, got, want)
		}
	}
}
