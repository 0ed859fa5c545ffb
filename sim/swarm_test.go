package sim

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"skep/internal/cputime"
	"skep/internal/digests"
)

// goldenDigests are the digests of the first worlds of the swarm and of all runs of finish.
var goldenDigests = digests.Open("testdata/digests.txt")

const goldenWorlds = 1000

func TestMain(m *testing.M) { os.Exit(goldenDigests.Main(m)) }

var swarmFlag = flag.Int("sim.swarm", 300, "number of random worlds of TestSwarm")

// maxRegret bounds the core-seconds idle where a waiting task would have ended sooner, over those busy, once the faults
// have no consequences.
const maxRegret = 0.02

func TestSwarm(t *testing.T) {
	begin := time.Now()
	first, worlds := uint64(1), *swarmFlag
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	steps, nodes, before := uint64(0), time.Duration(0), cputime.Used()
	regret, busy := 0.0, 0.0
	RunSwarm(first, worlds, log, func(seed uint64, r Report, err error) bool {
		if err != nil {
			t.Error(err)
		} else if seed <= goldenWorlds {
			goldenDigests.Check(t, fmt.Sprintf("swarm/%04d", seed), r.Digest)
		}
		steps += r.Steps
		nodes += r.Nodes
		regret, busy = regret+r.Regret, busy+r.Busy
		return true
	})
	if worlds >= 1000 && !(regret <= maxRegret*busy) {
		t.Errorf("regret %.1f of %.1f core-seconds once the faults have no consequences, want at most %g", regret, busy,
			maxRegret)
	}
	t.Logf("%d worlds, %d steps, %.0f a second; %.0f simulated node-hours, %.0f for each CPU minute; regret %.1f of %.0f "+
		"core-seconds", worlds, steps, float64(steps)/time.Since(begin).Seconds(), nodes.Hours(),
		nodes.Hours()/(cputime.Used()-before).Minutes(), regret, busy)
}

// Worlds in which members evict finished jobs for want of room.
func TestSwarmDeposits(t *testing.T) {
	first, worlds := uint64(1), *swarmFlag
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	runWorlds(SwarmDeposits, first, worlds, log, func(_ uint64, _ Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		return true
	})
}
