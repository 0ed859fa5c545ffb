package sim

import (
	"flag"
	"testing"

	"skep/sim/oracle"
)

// Worlds in which the node or the oracle once failed.
func TestSeedsThatFailed(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{126,
			"a job was acknowledged by its origin and one member; the origin died, and the other member, which had no " +
				"replica, would not vote"},
		{223, "a restarted owner did not release its own attempt when its result was committed"},
		{573, "a stale lease timer extended another wait for ever"},
		{1725, "a former owner kept its own result of a task that another owner had ended"},
		{2374, "a campaign was won after the job had ended, and lost that end"},
		{586, "the oracle knew of one lost attempt only, and took the acknowledgement of an earlier one for a fault"},
		{1405,
			"a task of the local policy that had failed on its own node was never placed there again, because other nodes " +
				"could have been tried first"},
		{3871,
			"a refused attempt of an earlier owner was placed again after a newer one of it had run: at most once did not hold"},
		{4957, "the oracle dropped a job whose caller was told that no majority had it in time, and then missed it"},
		{4570, "an owner that had been cut off overwrote the outcome at a member that had learnt it without a vote"},
		{3609,
			"a task of the local policy waited for ever, because its own node, the only one it may run on, was on the " +
				"blacklist of its class"},
		{4068,
			"a restarted owner waited for the answer of the previous owner to start what it had taken over, and had dropped " +
				"its queue by then, since it counted its machine's uptime as time without an answer"},
		{8268, "a job never ended; it was fixed before the reason was written down"},
		{1700,
			"a new owner whose machine had been up for ten minutes sent no keepalives, and never learnt that another owner " +
				"had ended the job"},
		{4576,
			"the first message that an owner got from its successor was an offer, and a result that only the register had " +
				"was not recorded"},
		{7048, "a task waited for a node that had been drained and was then lost for good"},
		{9396, "an owner's attempt to renew its epoch was won after the job had ended, and lost that end"},
	} {
		if _, err := runToEnd(swarmBase(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
}

// Worlds with hard faults (swarmUnshared) in which the node or the oracle once failed.
func TestSeedsThatFailedWithHardFaults(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{1685,
			"a restarted owner that had copied a result's files took its attempt for one of its own that had ended, and " +
				"acknowledged the result without recording it"},
		{5892,
			"nodes with contradictory class bounds stopped a task of a thousand retries again and again, as one that had run " +
				"for too long"},
		{50342,
			"an answer that a job's inputs were not waited for any more came late out of a slow disk, and the oracle asked " +
				"its node about them, which had voted for another owner by then"},
		{50597,
			"tasks that wait for an idle node used an old ad of the only one that fits, which nobody polled, and waited " +
				"for ever"},
		{60248,
			"three of five members of a job were lost, and the oracle did not accept its owner's statement of that when it " +
				"asked the other remaining member"},
		{109350,
			"tasks queued at their owner that could not start for want of a majority made the node look busy for ever to " +
				"tasks that wait for an idle one"},
	} {
		if _, err := runToEnd(swarmUnshared(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
}

// Worlds with shared machines (swarmFinal) in which the node or the oracle once failed.
func TestSeedsThatFailedWithSharedMachines(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{513624,
			"a worker that was a member, and knew its job to be over, kept its results for the owner that was lost for good; " +
				"the third member never had the job"},
		{143224,
			"an offer of a former owner came so late that its receiver had taken the job over and ended it, and the attempt " +
				"waited there for ever"},
		{181405,
			"one of five members that had a committed cancellation took it for uncommitted when a later owner wrote it " +
				"again, and showed the job as not cancelled"},
		{193786,
			"a job was never acknowledged, since its origin was lost before any other node had its inputs; its new owner " +
				"waited for them and showed that, and the oracle required it to end"},
		{186703,
			"tasks of one job, whose searches found nobody, each left it to another to look for an idle node, and " +
				"waited for ever"},
		{165149,
			"an owner that had learnt its job's end from its successor's members was restarted, and kept what had been " +
				"queued at itself, since no other node is to release that"},
		{111190,
			"an owner that had been succeeded, and learnt of no more than a failed campaign after that, took its next epoch " +
				"for its own renewed: it dropped an attempt of a task that the other had ended"},
	} {
		if _, err := runToEnd(swarmFinal(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
}

// Worlds of the whole Swarm in which the node or the oracle once failed.
func TestSeedsThatFailedWithBudgets(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{12001536,
			"an owner that did not hear of two results for a while wrote that the attempts went on, and left it so when they " +
				"came: the job, run again by its caller, had used a budget of which the half was left"},
		{12000190,
			"an owner that was cut off supposed that an attempt went on whose end its successor had recorded, and the oracle " +
				"took what it knew itself for what that one knew"},
		{13000559,
			"a task that ended while its node was stopped was taken to have run until the node went on, and the budget of a " +
				"job of its class not to suffice for a first attempt"},
		{8594,
			"the same at a node that ran its own tasks alone: no timer was pending there that showed that it was stopped"},
		{94002785,
			"an idle node whose pull was lost took that for a refusal, and backed off from the only node with work for 25 s"},
	} {
		if _, err := runToEnd(swarmOfSoundStores(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
}

var seedFlag = flag.Uint64("sim.seed", 0, "run random tests with this seed alone; 0 = with the usual ones")

// seeds returns the seeds of a random test: the usual ones, or the one of the flag.
func seeds(n int) []uint64 {
	if *seedFlag != 0 {
		return []uint64{*seedFlag}
	}
	s := make([]uint64, n)
	for i := range s {
		s[i] = uint64(i) + 1
	}
	return s
}

// allTasks returns the durable states of all tasks, in order of submission.
func allTasks(w *World) (all []oracle.Task) {
	for n, s := range w.cfg.Work {
		for k := range s.Spec.Count {
			all = append(all, w.books.Task(n, int(k)))
		}
	}
	return all
}

// Worlds with failures that are retried (Swarm) in which the node once failed.
func TestSeedsThatFailedWithRetries(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{767, "a failure recorded in the takeover grace made its task live, and its policy placed others that nobody had " +
			"reported: at most once did not hold"},
		{81004365, "an attempt made before a failure was recorded was adopted after it, and began before the back-off " +
			"was over"},
		{81009140, "a new owner that made the record of a failure final acknowledged the result of a later attempt, " +
			"which it knew and nobody had recorded"},
	} {
		if _, err := runToEnd(swarmUnasked(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
}

// Worlds in which clients have ended tasks run again (swarmWithoutDeadlines) and in which the node once failed.
func TestSeedsThatFailedWithRequests(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{2211, "a notice of a close that was sent before the register was opened again closed it, and the task that was " +
			"run again never ended"},
		{626, "a job was cancelled, went on with a retry, and was cancelled again: that was answered and not done"},
		{919, "an owner that was restarted used the number of a backup attempt again"},
		{773353, "the owner of a closed register, which another member had opened again, counted as a second owner"},
		{717001663, "the oracle found attempts queued of a job that need not end, since the one that it waits for need not"},
	} {
		if _, err := runToEnd(swarmWithoutDeadlines(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
	if _, err := runToEnd(swarmWithoutMoves(2000735)); err != nil {
		t.Errorf("again: a new owner retried tasks of a job whose cancellation no majority had accepted yet\n%v", err)
	}
}

// Worlds of jobs that bid (swarmWithoutDeadlines) in which a node was idle for too long beside work that fitted it.
func TestSeedsWhereNodesWereIdle(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{7160278, "a policy that gives work to idle nodes counted three attempts whose owner was gone as waiting, and the " +
			"node was idle beside its own work until they were forgotten"},
	} {
		if _, err := runToEnd(swarmWithoutDeadlines(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
}

// Worlds (swarmWithoutMoves) in which a node was idle for too long beside a task that it had lost.
func TestSeedsWhereNodesThatLostATaskWereIdle(t *testing.T) {
	for _, seed := range []uint64{8868, 2026114636} {
		if _, err := runToEnd(swarmWithoutMoves(seed)); err != nil {
			t.Errorf("again: the task avoided it for good\n%v", err)
		}
	}
}

// Worlds (Swarm) in which a node was idle for too long beside work that it was refused each time it asked.
func TestSeedsWhereNodesAskedInVain(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{2000767, "each attempt that a node lost when it was cut off counted as an outage, which kept tasks from it for " +
			"minutes"},
		{2001839, "a node that was late, so that one core of it was believed, got no task that needs two"},
		{71000218, "three nodes were late while others used their cores, and got no task that needs two"},
	} {
		if _, err := runToEnd(swarmOfSoundStores(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
	if _, err := runToEnd(swarmOfMoves(83000550)); err != nil {
		t.Errorf("again: a node that had too many late attempts when it asked was barred from the task for good\n%v", err)
	}
}

// Worlds with budgets (swarmOfBudgets) in which a job ended for want of what it had.
func TestSeedsWhereBudgetsWereTakenForUsed(t *testing.T) {
	for _, seed := range []uint64{85001847, 85004128} {
		if _, err := runToEnd(swarmOfBudgets(seed)); err != nil {
			t.Errorf("again: an owner that was stopped for seconds took what had ended meanwhile for what still ran\n%v", err)
		}
	}
	if _, err := runToEnd(swarmOfBudgets(95005425)); err != nil {
		t.Errorf("again: a start that a stalled disk had kept until its start lease expired counted as a run\n%v", err)
	}
	if _, err := runToEnd(swarmOfBudgets(85001069)); err != nil {
		t.Errorf("again: a budget was taken not to suffice for the ranks of a gang, by a run of the class whose start had "+
			"waited for the disk\n%v", err)
	}
	if _, err := runToEnd(swarmOfSoundStores(1514)); err != nil {
		t.Errorf("again: results did not say for how long a task had been suspended, and that was subtracted\n%v", err)
	}
}

// A world whose stores are put back (swarmOfStores), and in which a node was stopped for 20 s.
func TestSeedsWhereWritesWaited(t *testing.T) {
	if _, err := runToEnd(swarmOfStores(95002828)); err != nil {
		t.Errorf("again: a member took a job to be as old as the first write to it was when that was sent, though it had "+
			"waited, and started its tasks after their deadline\n%v", err)
	}
}

// Worlds with a hostile keeper, of jobs that are signed.
func TestSeedsOfHostileKeepers(t *testing.T) {
	for _, s := range []struct {
		seed  uint64
		world func(uint64) Config
		was   string
	}{
		{103000040, swarmOfConnected,
			"a member that only claimed to own a job was voted for by one whose owner was alive, and ended the job anew"},
		{103000037, swarmOfConnected, "the same, and a task was never given to anybody"},
		{103000015, swarmOfVoters,
			"a candidate forgot a job, since one member said that its outcome was evicted, against the votes of a majority"},
		{103000026, swarmOfVoters, "the same"},
		{103000003, swarmOfVoters, "one member said that it had promised the last epoch, and nobody could campaign any more"},
		{103000009, swarmOfVoters, "the same"},
	} {
		if _, err := runToEnd(s.world(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
}

// Worlds in which a member that was taken for dead comes back while it is replaced (swarmOfContests), and in which the
// node once failed.
func TestSeedsThatFailedWithReplacements(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{101000139, "an owner that was told of other members, in an answer that counted no more, went on to decide"},
		{101000009, "one that was so, and owned the register again later, knew attempts still that had no worker"},
		{101000089, "a node that was being replaced got every vote, waited for more, and never heard how its job ended: it " +
			"kept an attempt of it for ever"},
	} {
		if _, err := runToEnd(swarmOfContests(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
}
