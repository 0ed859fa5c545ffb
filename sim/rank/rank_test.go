package rank

import (
	"math"
	"slices"
	"testing"
)

var nan = math.NaN()

func TestRanks(t *testing.T) {
	for _, c := range []struct {
		figures []float64
		failed  Failed
		want    []float64
	}{
		{[]float64{3, 1, 2}, LastInOrder, []float64{3, 1, 2}},
		{[]float64{2, 1, 2, 5}, LastInOrder, []float64{2.5, 1, 2.5, 4}},
		{[]float64{nan, 4, nan, 1}, LastInOrder, []float64{3, 2, 4, 1}},
		{[]float64{nan, 4, nan, 1}, AllLast, []float64{4, 2, 4, 1}},
		{[]float64{nan, nan}, LastInOrder, []float64{1, 2}},
		{[]float64{7, 7, 7}, AllLast, []float64{2, 2, 2}},
	} {
		if got := Ranks(c.figures, c.failed); !slices.Equal(got, c.want) {
			t.Errorf("%v: ranks %v; want %v", c.figures, got, c.want)
		}
	}
}

func TestScores(t *testing.T) {
	s := Scores([][]float64{{10, 20, 30}, {4, 2, nan}, {5, 5, 10}}, LastInOrder)
	for k, want := range []Score{
		{Rank: Mean{(1 + 2 + 1.5) / 3, 0}, Degradation: Mean{100 / 3.0, 0}, Figure: Mean{19 / 3.0, 0}, Best: 2},
		{Rank: Mean{(2 + 1 + 1.5) / 3, 0}, Degradation: Mean{100 / 3.0, 0}, Figure: Mean{9, 0}, Best: 2},
		{Rank: Mean{3, 0}, Degradation: Mean{150, 0}, Figure: Mean{20, 0}, Failures: 1},
	} {
		got := s[k]
		if math.Abs(got.Rank.Mean-want.Rank.Mean)+math.Abs(got.Degradation.Mean-want.Degradation.Mean)+
			math.Abs(got.Figure.Mean-want.Figure.Mean) > 1e-9 || got.Failures != want.Failures || got.Best != want.Best {
			t.Errorf("alternative %d: %+v; want %+v", k, got, want)
		}
	}
	if half := s[2].Degradation.Half; math.Abs(half-12.7062*50) > 0.01 { // of 200 and 100, Student's t of one degree
		t.Errorf("half-width %g; want 635.31", half)
	}
	if got := Scores(nil, LastInOrder); got != nil {
		t.Errorf("%v of no comparison", got)
	}
	if got := Scores([][]float64{{nan, 1}}, AllLast)[0]; !math.IsNaN(got.Degradation.Mean) || got.Rank != (Mean{2, 0}) {
		t.Errorf("%+v of what failed; want no degradation and the last rank", got)
	}
}
