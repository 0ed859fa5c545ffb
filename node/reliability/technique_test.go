package reliability

import (
	"math"
	"testing"

	"skep/balance/utility"
	"skep/grid"
)

// whole is the worth of a result that has no deadline, before that of one which is wanted within so many seconds.
func whole(float64) float64 { return 1 }

func before(deadline float64) func(float64) float64 {
	return func(s float64) float64 {
		if s <= deadline {
			return 1
		}
		return 0
	}
}

// Where a task fails once at most and that is noticed at once, utilities are those of [1, Table 7.1].
func TestUtilitiesAreThoseOfTheTable(t *testing.T) {
	heuristics := map[grid.Reliability]utility.Heuristic{grid.ReliabilityValue: utility.ByValue,
		grid.ReliabilityValuePerCost: utility.ByValuePerCost, grid.ReliabilityValuePerTime: utility.ByValuePerDelay}
	techniques := []utility.Technique{utility.None, utility.Retry, utility.Replicate}
	for _, f := range []float64{0, 0.03, 0.1, 0.5, 0.9} {
		const v, l = 7200.0, 3600.0
		sure := &Run{Seconds: l}
		x := Task{Value: v, Worth: whole, Again: sure}
		for h, theirs := range heuristics {
			for _, q := range techniques {
				want := utility.OfTechnique(theirs, q, v, l, f)
				if h == grid.ReliabilityValuePerCost && q == utility.None { // [1] takes no part of a run that fails for its cost
					want = (1 - f) * v / l
				}
				if got := x.Utility(h, q, Run{l, f}, sure); math.Abs(got-want) > 1e-12*v {
					t.Errorf("f %v, %v, %v: %v: want %v", f, h, q, got, want)
				}
			}
		}
	}
}

// What is best where: a run is repeated if there is time; a copy is run where there is none and what it saves is worth
// what it takes.
func TestWhatIsChosen(t *testing.T) {
	run := func(risk float64) Run { return Run{60, risk} }
	again := func(risk float64) *Run { return &Run{60, risk} }
	for name, c := range map[string]struct {
		h      grid.Reliability
		task   Task
		run    Run
		copied *Run
		want   utility.Technique
	}{
		"no deadline": {0, Task{Value: 60, Worth: whole, Notice: 30, Again: again(0.1)}, run(0.1), again(0.1), utility.Retry},
		"no deadline, dear": {0, Task{Value: 6000, Worth: whole, Notice: 30, Again: again(0.001)}, run(0.1), again(0.1),
			utility.Retry},
		"no time for a retry, cheap": {0, Task{Value: 60, Worth: before(80), Notice: 30, Again: again(0.1)}, run(0.1),
			again(0.1), utility.None},
		"no time for a retry, dear": {0, Task{Value: 1200, Worth: before(80), Notice: 30, Again: again(0.1)}, run(0.1),
			again(0.1), utility.Replicate},
		"dear, and nothing is ever lost": {0, Task{Value: 1200, Worth: before(80), Notice: 30, Again: again(0.001)},
			run(0.001), again(0.001), utility.None},
		"dear, nobody is idle": {0, Task{Value: 1200, Worth: before(80), Notice: 30, Again: again(0.1)}, run(0.1), nil,
			utility.None},
		"a copy would come too late": {0, Task{Value: 1200, Worth: before(80), Notice: 30, Again: again(0.1)}, run(0.1),
			&Run{90, 0.1}, utility.None},
		"may not run again": {0, Task{Value: 60, Worth: whole}, run(0.1), nil, utility.None},
		"by value, no time": {grid.ReliabilityValue, Task{Value: 60, Worth: before(80), Notice: 30, Again: again(0.1)},
			run(0.1), again(0.1), utility.Replicate},
		"by value, time": {grid.ReliabilityValue, Task{Value: 60, Worth: whole, Again: again(0.1)}, run(0.1), again(0.1),
			utility.Retry},
		"by cost, no time": {grid.ReliabilityValuePerCost, Task{Value: 600, Worth: before(80), Notice: 30,
			Again: again(0.1)}, run(0.1), again(0.1), utility.None},
		"by time": {grid.ReliabilityValuePerTime, Task{Value: 60, Worth: whole, Notice: 30, Again: again(0.1)}, run(0.1),
			again(0.1), utility.Replicate},
		"by time, nothing is ever lost": {grid.ReliabilityValuePerTime, Task{Value: 60, Worth: whole, Notice: 30,
			Again: again(0)}, run(0), again(0), utility.Retry},
		"by time, a faster node": {grid.ReliabilityValuePerTime, Task{Value: 60, Worth: whole, Again: again(0)}, run(0),
			&Run{20, 0}, utility.Replicate},
		"always": {grid.ReliabilityReplicate, Task{Value: 60, Worth: whole, Again: again(0)}, run(0), again(0),
			utility.Replicate},
	} {
		if c.h == 0 {
			c.h = grid.ReliabilityAuto
		}
		if got := c.task.Choose(c.h, c.run, c.copied); got.Technique != c.want {
			t.Errorf("%s: %v, a copy saves %.3g and takes %.3g: want %v", name, got.Technique, got.Saves, got.Takes, c.want)
		}
	}
}

// The probability of a result counts the runs that there may be.
func TestSuccess(t *testing.T) {
	x := Task{Value: 60, Worth: whole, Notice: 30, Again: &Run{60, 0.2}}
	for h, want := range map[grid.Reliability]float64{grid.ReliabilityAuto: 1 - 0.1*0.2,
		grid.ReliabilityReplicate: 1 - 0.1*0.3} {
		if got := x.Choose(h, Run{60, 0.1}, &Run{60, 0.3}); math.Abs(got.Success-want) > 1e-12 {
			t.Errorf("%v: %v with probability %v: want %v", h, got.Technique, got.Success, want)
		}
	}
}

// Of the times at which a run may be lost only those count after which another one is noticed to be due and done by
// the deadline: up to 40 s of 60 here, in five of the eight parts.
func TestALossIsNoticedLate(t *testing.T) {
	x := Task{Value: 60, Worth: before(130), Notice: 30, Again: &Run{60, 0.2}}
	got, want := x.Choose(grid.ReliabilityAuto, Run{60, 0.1}, nil).Success, 0.9+0.1*5/8*0.8
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("a result with probability %v: want %v", got, want)
	}
}

// Whatever the numbers are, the chances of the courses of a technique add up to 1.
func TestChancesAddUp(t *testing.T) {
	var buffer [4]course
	for _, f := range []float64{0, 0.3, 1} {
		for _, deadline := range []float64{0, 50, 100, 130, 1000} {
			x := Task{Value: 5, Worth: before(deadline), Notice: 10, Again: &Run{50, f / 2}}
			for q := range utility.Replicate + 1 {
				sum := 0.0
				for _, c := range x.courses(q, Run{60, f}, &Run{30, f / 3}, buffer[:0]) {
					if sum += c.chance; c.chance < 0 || c.cost < 0 || c.value < 0 {
						t.Errorf("%v: %+v", q, c)
					}
				}
				if math.Abs(sum-1) > 1e-12 {
					t.Errorf("f %v, deadline %v, %v: %v: want 1", f, deadline, q, sum)
				}
			}
		}
	}
}

// What is decided is told with the numbers that it rests on, and without digits that mean nothing.
func TestWhatIsTold(t *testing.T) {
	p := Placed{Heuristic: grid.ReliabilityAuto, Run: Run{60, 0.1}, Task: Task{Value: 1200, Worth: before(80), Notice: 30,
		Again: &Run{60, 0.1}}}
	for _, c := range []struct {
		x    Choice
		idle bool
		want string
	}{
		{Choice{Technique: utility.Replicate, Risk: 0.1, Success: 0.99, Saves: 108, Takes: 55}, true, "auto: a copy beside " +
			"it; 10 % of such runs are lost there, so 99 % have a result; a copy saves 108 of a worth of 1200 and takes 55 " +
			"node-seconds"},
		{Choice{Technique: utility.Retry, Risk: 1e-7, Success: 1, Saves: -3e-10, Takes: 2}, true, "auto: repeated if it is " +
			"lost; under 0.01 % of such runs are lost there, so over 99.99 % have a result; a copy saves nothing of a worth " +
			"of 1200 and takes 2 node-seconds"},
		{Choice{Risk: 0.1, Success: 0.9}, false, "auto: not repeated if it is lost, there is no time for it; 10 % of " +
			"such runs are lost there, so 90 % have a result; nobody is idle for a copy"},
	} {
		if got := p.Says(c.x, c.idle); got != c.want {
			t.Errorf("it says\n%s\nwant\n%s", got, c.want)
		}
	}
}
