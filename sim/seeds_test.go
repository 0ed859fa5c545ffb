package sim

import "testing"

// Worlds in which the node or the oracle once failed.
func TestSeedsThatFailed(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{126, "a job was acknowledged by its origin and one guardian; the origin died, and the other guardian, which had nothing, would not promise"},
		{223, "a restarted owner did not let go of its own attempt when its result became final"},
		{573, "a stale lease timer put off the end of another wait for good"},
		{1725, "a former owner kept its own result of a task that somebody else had brought to its end"},
		{2374, "a bid was won after the job had come to its end, and forgot that"},
		{586, "the books knew of one lost attempt only, and took the acknowledgement of an earlier one for a mistake"},
		{1405, "a task of the local policy that had failed on its own node was kept from it for ever, because others could have been asked first"},
		{3871, "a refused attempt of an earlier owner was placed again, and a newer one of it had run: at most once did not hold"},
		{4957, "the books let a job go whose caller was told that no majority had it in time, and then missed it"},
		{4570, "an owner that had been cut off overwrote the outcome at a member that had learnt it without a promise"},
		{3609, "a task of the local policy waited for ever, because its own node, the only one it may run on, was avoided for its class"},
		{4068, "a restarted owner waited for the word of the owner before it to start what it had taken over, and had forgotten what waited by then, since it counted its machine's uptime as time without a word"},
		{8268, "a job never ended; it was mended before the reason was written down"},
		{1700, "a new owner whose machine had been up for ten minutes watched nobody, and never heard that somebody else had brought the job to its end"},
		{4576, "the first that an owner heard of its successor was an offer, and a result that only the register had held was not written down"},
		{7048, "a task waited for a node that had been drained and was lost for good then"},
		{9396, "an owner's try to renew its epoch was won after the job had come to its end, and forgot that"},
	} {
		if _, err := runToEnd(swarmBase(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
}

// Worlds with hard faults (swarmUnshared) in which the node or the oracle once failed.
func TestSeedsThatFailedWithMisfortunes(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{1685, "a restarted owner that had copied a result's files took its attempt for one of its own that was over, and acknowledged the result without recording it"},
		{5892, "nodes whose bounds contradicted each other stopped a task of a thousand retries again and again, as one that had run for too long"},
		{50342, "an answer that a job's inputs were not waited for any more came late out of a slow disk, and the books asked its node about them, which had promised the job to another by then"},
		{50597, "tasks that wait for an idle node went by old news of the only one that fits, which nobody asked, and waited for ever"},
		{60248, "three of five that kept a job were lost, and the books did not take its owner's word for that when they asked the other one that was left"},
		{109350, "what waited at its owner, and could not start for want of a majority, made the node look busy for ever to tasks that wait for an idle one"},
	} {
		if _, err := runToEnd(swarmUnshared(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
}

// Worlds with shared machines in which the node or the oracle once failed.
func TestSeedsThatFailedAmongOthers(t *testing.T) {
	for _, s := range []struct {
		seed uint64
		was  string
	}{
		{513624, "a worker that was a member, and knew its job to be over, kept its results for the owner that was gone for good; the third member never had the job"},
		{143224, "an offer of a former owner came so late that whom it was made to had taken the job over and ended it, and waited there for ever"},
		{181405, "one of five that held a final cancellation took it for not final when a later owner wrote it again, and showed the job as not cancelled"},
		{193786, "a job was never acknowledged, since its origin was lost before anybody else had its inputs; its new owner waited for them and said so, and the books had it end"},
		{186703, "tasks of one job, whose searches found nobody, each left it to another to look for an idle node, and waited for ever"},
		{165149, "an owner that had heard of its job's end from its successor's members was restarted, and kept what had waited at itself, since nobody else is to release that"},
		{111190, "an owner that had been succeeded, and heard of no more than a failed bid after that, took its next epoch for its own renewed: it gave up an attempt of a task that the other had ended"},
	} {
		if _, err := runToEnd(Swarm(s.seed)); err != nil {
			t.Errorf("again: %s\n%v", s.was, err)
		}
	}
}
