package quota

import (
	"strings"
	"testing"

	"skep/grid"
)

var (
	alice = grid.NodeID{1}
	bob   = grid.NodeID{2}
	eve   = grid.NodeID{3}
)

func job(origin grid.NodeID, i int) grid.JobID {
	return grid.JobID{Origin: origin, Nonce: [10]byte{byte(i), byte(i >> 8), byte(i >> 16)}}
}

// lower sets small bounds for a test.
func lower(t *testing.T, each, all Amount) {
	oldEach, oldAll := Each, All
	Each, All = each, all
	t.Cleanup(func() { Each, All = oldEach, oldAll })
}

var few = Amount{Bytes: 1000, Registers: 3, Tasks: 50, Offers: 2}

// Each quantity is bounded for the origin and for the sender, and the reason names the node and the bound. Catches an
// account that is not looked at, and a quantity that is not compared.
func TestEachQuantityIsBoundedForOriginAndSender(t *testing.T) {
	plenty := Amount{Bytes: 1 << 30, Registers: 1000, Tasks: 1 << 30, Offers: 1000}
	for _, c := range []struct {
		name string
		size Amount
		fit  int
	}{
		{"MiB", Amount{Bytes: 300}, 3},
		{"jobs", Amount{Registers: 1}, 3},
		{"tasks", Amount{Tasks: 20}, 2},
		{"attempts", Amount{Offers: 1}, 2},
	} {
		for _, who := range []func(int) Parties{
			func(i int) Parties { return Parties{alice, grid.NodeID{9, byte(i)}} },
			func(i int) Parties { return Parties{grid.NodeID{9, byte(i)}, alice} },
		} {
			lower(t, few, plenty)
			var l Accounts
			kept := 0
			for i := range 10 {
				why := l.Admit(who(i), c.size)
				if why != "" {
					if !strings.Contains(why, alice.Short()) || !strings.Contains(why, c.name) {
						t.Errorf("%s: refused with %q, want the node and the quantity", c.name, why)
					}
					break
				}
				l.Keep(job(alice, i), who(i), c.size)
				kept++
			}
			if kept != c.fit {
				t.Errorf("%s: %d fit, want %d", c.name, kept, c.fit)
			}
			if why := l.Admit(Parties{eve, bob}, c.size); why != "" {
				t.Errorf("%s: others are refused: %s", c.name, why)
			}
			for i := range kept {
				l.Forget(job(alice, i))
			}
			if l.accounts.Len() != 0 || l.Kept() != (Amount{}) {
				t.Errorf("%s: %d accounts and %+v are left when all is forgotten", c.name, l.accounts.Len(), l.Kept())
			}
		}
	}
}

// What is over makes room for what is new, oldest first and of the same account; what goes on does not. Catches an
// eviction of somebody else's jobs or of open ones, and one in another order.
func TestWhatIsOverMakesRoom(t *testing.T) {
	lower(t, few, Amount{Bytes: 1 << 30, Registers: 1000, Tasks: 1 << 30, Offers: 1000})
	var l Accounts
	who, size := Parties{alice, alice}, Amount{Bytes: 300, Registers: 1}
	l.Keep(job(bob, 0), Parties{bob, bob}, size)
	l.End(job(bob, 0), 1)
	for i := range 3 {
		l.Keep(job(alice, i), who, size)
	}
	if _, is := l.oldest(who, size); is || l.Admit(who, size) == "" {
		t.Fatal("jobs that go on are to make room")
	}
	for _, i := range []int{2, 0, 1} {
		l.End(job(alice, i), 1)
	}
	if why := l.Admit(who, size); why != "" {
		t.Fatalf("jobs that are over stand in the way: %s", why)
	}
	for _, i := range []int{2, 0} {
		if id, is := l.oldest(who, Amount{Bytes: 600, Registers: 1}); !is || id != job(alice, i) {
			t.Fatalf("to be forgotten: %v, %v; want job %d", id, is, i)
		}
		l.Forget(job(alice, i))
	}
	if id, is := l.oldest(who, Amount{Bytes: 600}); is {
		t.Errorf("%v is to be forgotten, though there is room", id)
	}
}

// All accounts together are bounded too, and then what has been over for longest goes, whosever it is.
func TestAllTogetherAreBounded(t *testing.T) {
	lower(t, few, Amount{Bytes: 1000, Registers: 1000, Tasks: 1 << 30, Offers: 1000})
	var l Accounts
	for i, id := range []grid.NodeID{alice, bob, eve} {
		l.Keep(job(id, i), Parties{id, id}, Amount{Bytes: 300})
	}
	who := Parties{grid.NodeID{8}, grid.NodeID{8}}
	if why := l.Admit(who, Amount{Bytes: 300}); !strings.Contains(why, "all nodes") {
		t.Fatalf("refused with %q, want the bound of all nodes", why)
	}
	l.End(job(bob, 1), 1)
	if why := l.Admit(who, Amount{Bytes: 300}); why != "" {
		t.Fatal(why)
	}
	if id, is := l.oldest(who, Amount{Bytes: 300}); !is || id != job(bob, 1) {
		t.Errorf("to be forgotten: %v, %v; want bob's", id, is)
	}
}

// An origin that nobody has proved is not charged. Catches that a member uses up the room of another by naming it.
func TestUnprovedOriginsAreNotCharged(t *testing.T) {
	var l Accounts
	for i := range 2 * Each.Registers {
		if l.Admit(Parties{Sender: eve}, Amount{Registers: 1}) != "" {
			break
		}
		l.Keep(job(alice, i), Parties{Sender: eve}, Amount{Registers: 1})
	}
	if l.Admit(Parties{Sender: eve}, Amount{Registers: 1}) == "" ||
		l.Admit(Parties{alice, alice}, Amount{Registers: 1}) != "" {
		t.Error("the sender is not bounded, or the origin that it names is")
	}
}

// Only an origin that sends a job itself answers for it; of what another node sends that node answers alone.
func TestWhoAnswers(t *testing.T) {
	for from, want := range map[grid.NodeID]Parties{alice: {alice, alice}, eve: {Sender: eve}} {
		if got := PartiesOf(job(alice, 1), from); got != want {
			t.Errorf("for a job of alice that node %d sends: %v, want %v", from[0], got, want)
		}
	}
}

// Jobs that are over are bounded by what was written of them.
func TestOverJobsAreBoundedByTasks(t *testing.T) {
	var l Accounts
	who := Parties{alice, alice}
	for i := range 3 {
		l.Keep(job(alice, i), who, Amount{Registers: 1, Tasks: grid.MaxCount})
		l.End(job(alice, i), MaxOver/2)
	}
	if id, is := l.oldest(who, Amount{}); !is || id != job(alice, 0) {
		t.Errorf("to be forgotten: %v, %v; want the oldest", id, is)
	}
	l.Forget(job(alice, 0))
	if _, is := l.oldest(who, Amount{}); is {
		t.Error("what is within the bound is to be forgotten")
	}
}

// A job that grows is bounded as a new one is, attempts as jobs are.
func TestGrowthIsAdmitted(t *testing.T) {
	lower(t, few, All)
	var l Accounts
	l.Keep(job(alice, 1), Parties{alice, bob}, Amount{Bytes: 400})
	if l.AdmitMore(job(alice, 1), 600) != "" || l.AdmitMore(job(alice, 1), 601) == "" {
		t.Error("a job may not take what is left, or more than that")
	}
	l.Resize(job(alice, 1), 900)
	if l.AdmitMore(job(alice, 1), 101) == "" || l.AdmitMore(job(eve, 1), 1<<40) != "" {
		t.Error("it does not count with its new size, or one that nobody answers for is bounded")
	}
	a := grid.AttemptID{Task: grid.TaskID{Job: job(alice, 2)}}
	l.Take(a, Parties{eve, eve}, 500)
	l.Extend(a, 400)
	if l.Admit(Parties{eve, eve}, Amount{Bytes: 100}) != "" || l.Admit(Parties{eve, eve}, Amount{Bytes: 101}) == "" {
		t.Error("a result does not count for who sent the attempt")
	}
	if l.Return(a); l.Kept().Bytes != 900 || l.Kept().Offers != 0 {
		t.Errorf("%+v are kept, want the job's 900 bytes", l.Kept())
	}
}
