package balance

import "testing"

// sums are what several replications come to.
type sums struct {
	tasks, remote, counted int
	time                   float64
	byClass                []float64
	nByClass               []int
}

func replicate(t *testing.T, policy string, replications int, units, change float64) sums {
	s := sums{byClass: make([]float64, 4), nByClass: make([]int, 4)}
	for r := range replications {
		q := newQueueing(t, system4A(), policy, uint64(100*r+1))
		if change > 0 {
			q.settle()
		}
		q.run(units, change)
		s.tasks, s.remote, s.counted, s.time = s.tasks+q.tasks, s.remote+q.remote, s.counted+q.counted, s.time+q.time
		for i := range s.byClass {
			s.byClass[i] += q.byClass[i]
			s.nByClass[i] += q.nByClass[i]
		}
	}
	return s
}

// Table 4.1 of [1, section 4.3.1], from 8 replications of 500 time-units instead of 30 of 200,000, with the
// rates at first as after a long time: completion times within 10 %, messages within half a percentage
// point. The thesis counts kpb's own machine as asked, lpas_dec's not. MCT's time does not settle in so
// short a run (its interval is 13 % in print), only that it is the worst.
func TestTable41(t *testing.T) {
	const within = 0.10
	worst, base := 0.0, 0.0
	for _, row := range []struct {
		policy  string
		w       float64
		classes [4]float64
		saved   float64 // messages against MCT, %
	}{
		{policy: "mct"},
		{"kpb:3", 0.24, [4]float64{0.20, 0.25, 0.27, 0.26}, 50.02},
		{"lpas_dec", 0.22, [4]float64{0.23, 0.19, 0.24, 0.21}, 65.19},
	} {
		s := replicate(t, row.policy, 8, 500, 0.035)
		messages := s.remote
		if row.policy == "kpb:3" {
			messages = s.counted
		}
		w, perTask := s.time/float64(s.tasks), float64(messages)/float64(s.tasks)
		t.Logf("%-8s W %.4f, %.3f messages for each of %d tasks", row.policy, w, perTask, s.tasks)
		if row.policy == "mct" {
			if worst, base = w, perTask; base != 12 {
				t.Errorf("mct sends %g messages for each task, want 12", base)
			}
			continue
		}
		if !near(w, row.w, within*row.w) || w > worst/1.5 {
			t.Errorf("%s: W %.4f, want %.2f within %.0f %%; mct has %.2f", row.policy, w, row.w, 100*within, worst)
		}
		for i, want := range row.classes {
			if got := s.byClass[i] / float64(s.nByClass[i]); !near(got, want, within*want) {
				t.Errorf("%s: W%d %.4f, want %.2f within %.0f %%", row.policy, i+1, got, want, 100*within)
			}
		}
		if got := 100 * (1 - perTask/base); !near(got, row.saved, 0.5) {
			t.Errorf("%s: %.2f %% fewer messages than mct, want %.2f", row.policy, got, row.saved)
		}
	}
}

// At its base rates System 4.A is System 2.D, whose mean number of tasks Table 2.1 prints as 10.55 … 10.59
// for LPAS and 11.00 … 11.04 for the three best: within 4 % here, in a fifth of the time. And with the
// rates at rest lpas_dec sends two messages for each other machine of a support, 2·(122 − 19.65)/49.
func TestSystem4AAtRest(t *testing.T) {
	for policy, want := range map[string]float64{"lpas_dec": 10.57, "kpb:3": 11.02} {
		s := replicate(t, policy, 2, 2000, 0)
		if got := 49 * s.time / float64(s.tasks); !near(got, want, 0.04*want) {
			t.Errorf("%s: %.2f tasks in the system, want %.2f within 4 %%", policy, got, want)
		}
		if got, want := float64(s.remote)/float64(s.tasks), 2*(122-19.65)/49; policy == "lpas_dec" &&
			!near(got, want, 0.005*want) {
			t.Errorf("%.4f messages for each task, want %.4f within 0.5 %%", got, want)
		}
	}
}

// Nobody solves again while nothing changes, however often the same rates come in.
func TestNoSolveAtRest(t *testing.T) {
	q := newQueueing(t, system4A(), "lpas_dec", 3)
	q.run(50, 0)
	for j, p := range q.policies {
		if n := p.(Solver).Solves(); n != 1 {
			t.Errorf("machine %d solved %d times, want once", j+1, n)
		}
	}
}
