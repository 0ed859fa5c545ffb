package sim

import (
	"testing"

	"skep/sim/oracle"
)

// The swarm has worlds in which tasks go on from checkpoints. Few attempts begin from an older one than a worker was
// told is usable and somebody keeps: those of a new owner whom one member alone could tell of it.
func TestSwarmResumes(t *testing.T) {
	first, worlds := uint64(82000001), *swarmFlag
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var sum oracle.Checkpoints
	RunSwarm(first, worlds, nil, func(seed uint64, r Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		c := r.Checkpoints
		if c.Behind > 0 {
			t.Logf("seed %d: %+v", seed, c)
		}
		sum.Closed, sum.Usable, sum.Resumed, sum.Behind = sum.Closed+c.Closed, sum.Usable+c.Usable, sum.Resumed+c.Resumed,
			sum.Behind+c.Behind
		return true
	})
	t.Logf("%+v", sum)
	if worlds >= 300 && (sum.Resumed < worlds/5 || sum.Behind > sum.Resumed/50) {
		t.Errorf("%+v in %d worlds: want more that go on, and fewer that fall behind", sum, worlds)
	}
}
