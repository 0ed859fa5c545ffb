package sim

import "testing"

// A world in which messages are carried as bytes, and records are read from bytes, goes as the same world without.
func TestSwarmBytes(t *testing.T) {
	first, worlds := uint64(1), (*swarmFlag+4)/5
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	for seed := first; seed < first+uint64(worlds); seed++ {
		c := Swarm(seed)
		c.Network.Bytes = false
		plain, err := runToEnd(c)
		if err != nil {
			t.Error(err)
			continue
		}
		c.Network.Bytes = true
		if carried, err := runToEnd(c); err != nil {
			t.Errorf("as bytes: %v", err)
		} else if carried.Digest != plain.Digest {
			t.Errorf("seed %d: digest %x as bytes, %x without, after %d and %d steps", seed, carried.Digest, plain.Digest,
				carried.Steps, plain.Steps)
		}
	}
}
