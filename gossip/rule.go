package gossip

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"skep/grid"
)

// rule says how likely the ad of p, which is news, is handed on now: 0 never, 1 always. Chance is drawn
// once for each ad, not for each neighbour, and after the product, so a rule itself draws nothing.
type rule func(g *Gossip, now grid.Time, p *Peer) float64

// families make rules by their names out of what stands after the colon, empty where there is none. A
// family that is no factor but a gate changes the product itself.
var families = map[string]struct {
	takes string // after the colon, for people
	make  func(r *product, param string) (rule, error)
}{
	"adaptive":         {"ERROR", adaptive},
	"universal":        {"", func(_ *product, param string) (rule, error) { return universal, none(param) }},
	"neighbourhood":    {"HOPS or TIME", neighbourhood},
	"distinctive":      {"HOPS", distinctive},
	"probabilistic":    {"FACTOR or TIME", probabilistic},
	"prioritised":      {"class, load or potential", prioritised},
	"change_sensitive": {"THETA, soft or soft:THETA", changeSensitive},
}

// Rules lists the names of the dissemination rules, in order.
func Rules() []string {
	names := make([]string, 0, len(families))
	for n := range families {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// CheckRule reports what is wrong with a rule: names of [Rules], each with its parameter after a colon,
// joined by "*".
func CheckRule(s string) error {
	_, err := parseRule(s)
	return err
}

// product is several rules that must all agree.
type product struct {
	parts []rule
	gated bool    // change_sensitive is among them: the own ad is held back too
	soft  bool    // and its gate is soft
	theta float64 // of the gate, where the rule says one; 0 = Config.Theta
	adapt *adapt  // of adaptive
}

func (r *product) chance(g *Gossip, now grid.Time, p *Peer) float64 {
	v := 1.0
	for _, part := range r.parts {
		if v *= part(g, now, p); v <= 0 {
			return 0
		}
	}
	return v
}

// parseRule reads names joined by "*".
func parseRule(s string) (product, error) {
	var r product
	for _, one := range strings.Split(s, "*") {
		name, param, colon := strings.Cut(strings.TrimSpace(one), ":")
		f, ok := families[name]
		if !ok {
			return r, fmt.Errorf("gossip: rule %.80q: %.40q is not known: want %s, joined by *", s, name, strings.Join(Rules(), ", "))
		}
		part, err := f.make(&r, param)
		if err == nil && colon && param == "" {
			err = fmt.Errorf("nothing stands after the colon")
		}
		if err != nil {
			want := "want no parameter"
			if f.takes != "" {
				want = fmt.Sprintf("want %s:%s", name, f.takes)
			}
			return r, fmt.Errorf("gossip: rule %.80q: %s: %w: %s", s, name, err, want)
		}
		r.parts = append(r.parts, part)
	}
	return r, nil
}

func none(param string) error {
	if param != "" {
		return fmt.Errorf("%.40q", param)
	}
	return nil
}

// hops reads a number of links; def where nothing is said.
func hops(param string, def int) (int, error) {
	if param == "" {
		return def, nil
	}
	n, err := strconv.Atoi(param)
	if err != nil || n < 1 || n > grid.MaxHops {
		return 0, fmt.Errorf("%.40q is no number of hops from 1 to %d", param, grid.MaxHops)
	}
	return n, nil
}

// span reads a length of time; ok = it is meant as one.
func span(param string) (d time.Duration, ok bool, err error) {
	if !strings.HasSuffix(param, "s") {
		return 0, false, nil
	}
	if d, err = time.ParseDuration(param); err != nil || d <= 0 || d > maxDistance {
		return 0, true, fmt.Errorf("%.40q is no time of more than 0 and at most %v", param, maxDistance)
	}
	return d, true, nil
}

// fraction reads a number of more than 0 and at most 1.
func fraction(param string) (float64, error) {
	x, err := strconv.ParseFloat(param, 64)
	if err != nil || !(x > 0 && x <= 1) {
		return 0, fmt.Errorf("%.40q is no number of more than 0 and at most 1", param)
	}
	return x, nil
}
