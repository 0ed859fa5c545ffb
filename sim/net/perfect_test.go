package net

import "testing"

// With perfect information a view has no error at a decision; everything ends, and the same seed gives the same
// digest.
func TestPerfectInformation(t *testing.T) {
	s := small()
	s.Replications = 1
	heard := run(t, s)
	s.Perfect = true
	told := run(t, s)
	if told.Lost != 0 || told.Ended != told.Tasks || !told.Complete {
		t.Errorf("%d of %d ended, %d lost", told.Ended, told.Tasks, told.Lost)
	}
	if told.Digest == heard.Digest {
		t.Error("it makes no difference")
	}
	if again := run(t, s); again.Digest != told.Digest {
		t.Errorf("digests %s and %s of one seed", again.Digest, told.Digest)
	}
}
