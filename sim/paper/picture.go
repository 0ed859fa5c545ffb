package paper

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// picture is a line of curves.csv of a study whose runs give figures of their own: one of them by rule, by distance or
// by the number of nodes. It is drawn of the runs in runs.csv; a point that was not run is left out.
type picture struct {
	name, title string
	scenarios   []string
	policies    []string
	x, y        string
}

// sides are what x of a picture may be.
var sides = []string{"rule", "links", "nodes"}

func (r record) picture() (p picture, err error) {
	p = picture{name: r["curve"], title: r["title"], scenarios: strings.Fields(r["scenario"]),
		policies: strings.Fields(r["policies"]), x: r["x"], y: r["y"]}
	if !slices.Contains(sides, p.x) {
		err = fmt.Errorf("x %q: want one of %s", p.x, strings.Join(sides, ", "))
	}
	if p.y == "" || len(p.scenarios) == 0 || len(p.policies) == 0 || p.x == "links" && len(p.scenarios) != 1 {
		err = errors.Join(err, errors.New("want a y, policies and scenarios, by links just one of these"))
	}
	return p, err
}

// plan says which figure is the point of a policy at the k-th place of a picture; the place is a value of x.
type plan struct {
	at     float64
	key    key
	figure string
}

// plans lists the points of each series, with the name of that. By rule a series is a scenario, else a policy.
func (p *picture) plans(nodes func(scenario string) int, farthest int) (names []string, points [][]plan) {
	if p.x == "rule" {
		for _, s := range p.scenarios {
			var of []plan
			for k, policy := range p.policies {
				of = append(of, plan{float64(k), key{s, policy}, p.y})
			}
			names, points = append(names, s), append(points, of)
		}
		return names, points
	}
	for _, policy := range p.policies {
		var of []plan
		if p.x == "nodes" {
			for _, s := range p.scenarios {
				of = append(of, plan{float64(nodes(s)), key{s, policy}, p.y})
			}
		} else {
			for h := 1; h < farthest; h++ {
				of = append(of, plan{float64(h), key{p.scenarios[0], policy}, fmt.Sprint(p.y, ":", h)})
			}
		}
		names, points = append(names, policy), append(points, of)
	}
	return names, points
}

// draw looks the points up; what has no value is left out.
func (p *picture) draw(nodes func(scenario string) int, farthest int, value func(key, string) (measured, error)) Curve {
	c := Curve{Name: p.name, Title: p.title, X: p.x, Y: p.y}
	if p.x == "rule" {
		c.Names = p.policies
	}
	names, points := p.plans(nodes, farthest)
	for k, of := range points {
		s := Series{Policy: names[k]}
		for _, at := range of {
			if m, err := value(at.key, at.figure); err == nil {
				x := Point{X: at.at, Stable: true, Mean: m.mean}
				if m.half == m.half { // one run has none
					x.Half = m.half
				}
				s.Points = append(s.Points, x)
			}
		}
		if len(s.Points) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	return c
}
