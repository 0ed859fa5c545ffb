package machine

import (
	"math"
	"testing"
	"time"

	"skep/exec/process"
	"skep/grid"
)

// meterOf4 is an availabilityMeter on four cores, all on offer.
type meterOf4 struct {
	*availabilityMeter
	at    grid.Time
	cores process.Cores
	own   time.Duration
	news  int
}

func newMeterOf4(offers grid.MilliCPU) *meterOf4 {
	m := &meterOf4{availabilityMeter: newAvailabilityMeter(offers), at: 1, cores: process.Cores{Count: 4, Busy: time.Hour}}
	m.sample(m.at, m.cores, m.own)
	return m
}

// load simulates, for a time, that others use that many cores with that many runnable threads, and the node's own
// tasks that many cores.
func (m *meterOf4) load(d time.Duration, others float64, threads int, own float64) {
	for ; d > 0; d -= sampleInterval {
		m.at = m.at.Add(sampleInterval)
		m.cores.Busy += time.Duration((others + own) * float64(sampleInterval))
		m.own += time.Duration(own * float64(sampleInterval))
		m.cores.Want = 1 + threads + int(math.Ceil(own))
		if m.sample(m.at, m.cores, m.own) {
			m.news++
		}
	}
}

// Own tasks do not count as use by others. What others use is not available, except that a fair scheduler gives as
// many cores to as many threads.
func TestAvailableShare(t *testing.T) {
	for _, c := range []struct {
		name    string
		offers  grid.MilliCPU
		others  float64
		threads int
		own     float64
		quota   float64
		want    float64
	}{
		{"idle", 4 * grid.CPU, 0, 0, 0, 0, 1},
		{"its own tasks", 4 * grid.CPU, 0, 0, 4, 0, 1},
		{"others on two cores of four", 4 * grid.CPU, 2, 2, 0, 0, 0.65},
		{"the same beside its own tasks", 4 * grid.CPU, 4.0 / 3, 2, 8.0 / 3, 0, 0.65},
		{"two of four on offer, others on the other two", 2 * grid.CPU, 2, 2, 0, 0, 1},
		{"a long queue of others", 4 * grid.CPU, 4, 28, 0, 0, 0.15},
		{"a quota of one core", 4 * grid.CPU, 0, 0, 0, 1, 0.25},
	} {
		m := newMeterOf4(c.offers)
		m.cores.Quota = c.quota
		m.load(20*time.Minute, c.others, c.threads, c.own)
		if math.Abs(m.reported-c.want) > availabilityChange {
			t.Errorf("%s: %g is left, want about %g", c.name, m.reported, c.want)
		}
		m.cores.Quota = 0
		m.load(20*time.Minute, 0, 0, 0)
		if m.reported != 1 {
			t.Errorf("%s: when that has ended %g is left, want all", c.name, m.reported)
		}
	}
}

// A load that comes and goes every few seconds is reported once, as its average.
func TestNoisyLoadIsReportedOnce(t *testing.T) {
	m := newMeterOf4(4 * grid.CPU)
	for range 360 { // two hours
		m.load(sampleInterval, 4, 4, 0)
		m.load(sampleInterval, 0, 0, 0)
	}
	if m.news > 5 || m.reported < 0.65 || m.reported > 0.85 {
		t.Errorf("%d times in two hours something else was told, lastly %g: want a few, about 0.75", m.news, m.reported)
	}
	last := m.news
	m.load(time.Hour, 0, 0, 0)
	if m.reported != 1 || m.news > last+5 {
		t.Errorf("after an hour of rest %g is told, and %d changes: want 1 in a few steps", m.reported, m.news-last)
	}
}

func TestUptime(t *testing.T) {
	dir, wall := t.TempDir(), time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	day := func(at grid.Time) float64 { // ten hours up, fourteen away
		u := openUptime(dir, wall)
		for range 10 * 60 {
			u.update(at, wall)
			at, wall = at.Add(time.Minute-time.Second), wall.Add(time.Minute)
		}
		u.save(wall)
		share, _ := u.update(at, wall)
		wall = wall.Add(14 * time.Hour)
		return share
	}
	if first := day(1e9); first != 1 {
		t.Errorf("on its first day it is up for %g of the time, want 1", first)
	}
	var last float64
	for range 30 {
		last = day(1e9)
	}
	if last < 0.4 || last > 0.55 {
		t.Errorf("up for ten of twenty-four hours for a month: %g", last)
	}
	u := openUptime(dir, wall)
	before := u.share()
	u.update(5e9, wall)
	u.update(grid.Time(5e9).Add(48*time.Hour), wall.Add(48*time.Hour))
	if after := u.share(); after > before-0.05 {
		t.Errorf("a machine that slept for two days was up for %g of the time, %g before", after, before)
	}
}
