package paper

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestPictures(t *testing.T) {
	have := map[key]map[string]float64{
		{"plane@100", "a"}:  {"bytes": 5, "error:1": 0.1, "error:2": 0.2},
		{"plane@100", "b"}:  {"bytes": 6},
		{"plane@1000", "a"}: {"bytes": 7},
	}
	value := func(k key, figure string) (measured, error) {
		x, ok := have[k][figure]
		if !ok {
			return measured{}, errors.New("none")
		}
		return measured{mean: x, half: math.NaN()}, nil
	}
	point := func(x, mean float64) Point { return Point{X: x, Stable: true, Mean: mean} }
	for _, c := range []struct {
		line string
		want []Series
	}{
		{"by rule,plane@100 plane@1000,a b,rule,bytes", []Series{{"plane@100", []Point{point(0, 5), point(1, 6)}},
			{"plane@1000", []Point{point(0, 7)}}}},
		{"by size,plane@100 plane@1000,a b,nodes,bytes", []Series{{"a", []Point{point(100, 5), point(1000, 7)}},
			{"b", []Point{point(100, 6)}}}},
		// b has no such figure
		{"by distance,plane@100,a b,links,error", []Series{{"a", []Point{point(1, 0.1), point(2, 0.2)}}}},
	} {
		f := strings.Split(c.line, ",")
		p, err := record{"curve": "c", "title": f[0], "scenario": f[1], "policies": f[2], "x": f[3], "y": f[4]}.picture()
		if err != nil {
			t.Fatal(err)
		}
		if got := p.draw(nodesOf, 6, value); !reflect.DeepEqual(got.Series, c.want) {
			t.Errorf("%s: %v, want %v", f[0], got.Series, c.want)
		}
	}
	for _, r := range []record{{"x": "load", "y": "W", "scenario": "s", "policies": "a"},
		{"x": "rule", "scenario": "s", "policies": "a"},
		{"x": "links", "y": "error", "scenario": "s t", "policies": "a"}} {
		if _, err := r.picture(); err == nil {
			t.Errorf("%v is taken", r)
		}
	}
}
