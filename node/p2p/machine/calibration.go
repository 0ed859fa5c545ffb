package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	ds "github.com/ipfs/go-datastore"
)

// Calibration: a fixed mix of integer, floating point and memory work on one core. Speed 1 does
// referenceRounds rounds in a second, about one core of a virtual server of 2025; 2 is twice as fast.
const (
	calibrationVersion = 1 // raise it when the mix changes: saved calibrations are then repeated
	referenceRounds    = 9000
	calibrationTime    = 100 * time.Millisecond
)

var speedKey = ds.NewKey("/calibration")

// Speed returns the speed of one core that was saved in data, and calibrates if there is none of this version.
func Speed(ctx context.Context, data ds.Datastore) (float64, error) {
	var kept struct {
		Version int
		Speed   float64
	}
	if b, err := data.Get(ctx, speedKey); err == nil && json.Unmarshal(b, &kept) == nil &&
		kept.Version == calibrationVersion && kept.Speed > 0 {
		return kept.Speed, nil
	}
	kept.Version, kept.Speed = calibrationVersion, calibrate()
	b, err := json.Marshal(kept)
	if err == nil {
		err = data.Put(ctx, speedKey, b)
	}
	if err != nil {
		return 0, fmt.Errorf("keep calibration: %w", err)
	}
	return kept.Speed, nil
}

// calibrate measures the speed of one core: the best of some short runs, since other load can only slow it down.
func calibrate() float64 {
	table := make([]uint64, 1<<17) // 1 MiB: more than the first-level caches
	for i := range table {
		table[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	best := math.Inf(1)
	for start := time.Now(); time.Since(start) < calibrationTime; {
		const rounds = 10
		began := time.Now()
		for range rounds {
			round(table)
		}
		best = min(best, time.Since(began).Seconds()/rounds)
	}
	return min(max(1/(best*referenceRounds), 1e-3), 1e3)
}

// round is one round of the mix; it stores its result so that the compiler cannot remove it.
func round(table []uint64) {
	x, f := table[0]|1, 1.0
	for i := range 60_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		f = f*0.999 + float64(x&1023)/float64(i+1)
		if i&3 == 0 {
			j := x & uint64(len(table)-1)
			table[j] += x
		}
	}
	table[0] = x ^ math.Float64bits(f)
}
