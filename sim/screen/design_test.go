package screen

import (
	"math"
	"slices"
	"testing"
)

// [2, Table 5.1].
func TestDesignOfTheThesis(t *testing.T) {
	want := []string{"+++-+--", "-+++-+-", "--+++-+", "+--+++-", "-+--+++", "+-+--++", "++-+--+", "-------", "---+-++",
		"+---+-+", "++---+-", "-++---+", "+-++---", "-+-++--", "--+-++-", "+++++++"}
	d, err := New(7)
	if err != nil || len(d) != len(want) {
		t.Fatalf("%d runs, %v: want %d", len(d), err, len(want))
	}
	for r, levels := range d {
		row := ""
		for _, x := range levels {
			row += map[int]string{1: "+", -1: "-"}[x]
		}
		if row != want[r] {
			t.Errorf("run %d: %s, want %s", r+1, row, want[r])
		}
	}
}

// Every parameter is high in half of the runs, and every two are alike in half of them.
func TestDesignsAreOrthogonal(t *testing.T) {
	for n := 1; n <= MaxParameters; n++ {
		d, err := New(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(d) <= 2*n || len(d)%8 != 0 {
			t.Errorf("%d parameters: %d runs", n, len(d))
		}
		for a := range n {
			sum := 0
			for _, levels := range d {
				sum += levels[a]
			}
			for b := range a {
				both := 0
				for _, levels := range d {
					both += levels[a] * levels[b]
				}
				if both != 0 {
					t.Errorf("%d parameters: %d and %d go together, %d", n, a, b, both)
				}
			}
			if sum != 0 {
				t.Errorf("%d parameters: %d is high %d times too often", n, a, sum/2)
			}
		}
	}
	for _, n := range []int{0, MaxParameters + 1} {
		if _, err := New(n); err == nil {
			t.Errorf("%d parameters have a design", n)
		}
	}
}

// [2, Table 5.3]: effects in 1e5 s of its runs in 1e6 s, which are rounded to 1e3 s: 16 of them to 0.08 at most, and
// the printed effects are within 0.03.
func TestEffectsOfTheThesis(t *testing.T) {
	runs := []float64{3.326, 3.417, 3.469, 3.391, 3.419, 3.323, 3.413, 3.451, 3.483, 3.340, 3.309, 3.386, 3.374, 3.429,
		3.406, 3.362}
	want := []float64{-6.209, -1.747, -1.726, 3.763, -0.153, -0.774, 0.942}
	d, _ := New(7)
	got := d.Effects(runs)
	for p := range got {
		if got[p] *= 10; math.Abs(got[p]-want[p]) > 0.03 {
			t.Errorf("effect %d: %.3f, want %.3f", p, got[p], want[p])
		}
	}
	if ranks := Ranks(got); !slices.Equal(ranks, []float64{1, 3, 4, 2, 7, 6, 5}) {
		t.Errorf("ranks %v", ranks)
	}
	if ranks := Ranks([]float64{2, -3, 3, 1}); !slices.Equal(ranks, []float64{3, 1.5, 1.5, 4}) {
		t.Errorf("equal effects: ranks %v", ranks)
	}
}

// Main effects are found beside what two parameters do together.
func TestFoldOver(t *testing.T) {
	d, _ := New(5)
	var of []float64
	for _, x := range d {
		of = append(of, float64(10+3*x[0]-2*x[3]+7*x[1]*x[2]+5*x[0]*x[4]))
	}
	n := float64(len(d))
	if got, want := d.Effects(of), []float64{3 * n, 0, 0, -2 * n, 0}; !slices.Equal(got, want) {
		t.Errorf("effects %v, want %v", got, want)
	}
}
