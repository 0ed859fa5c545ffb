package gossip

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"skep/grid"
)

// rule returns the probability with which news p is forwarded now: 0 never, 1 always. The draw is made once for each
// ad, not for each neighbour, and after the product, so a rule itself draws nothing.
type rule func(g *Gossip, now grid.Time, p *Peer) float64

// Parameters of rules that have none after the colon.
const (
	// distinctive: hops. Raising it makes rare nodes known farther away.
	defaultFar = 16

	// probabilistic: factor for each hop of an ad, with which an ad costs about a seventh of a flood. 1 is a flood; 0.4
	// leaves nodes 5 hops away without news.
	defaultDecay = 0.6

	// change_sensitive: the change of an ad that is worth a message, as Delta: that which makes an allocation be solved
	// again. The error of views is about as large; halving it roughly doubles the messages.
	defaultTheta = 0.1

	// adaptive: the error of the view, as Delta. Halving it about doubles the messages.
	defaultTarget = 0.1
)

// families make rules from their names and the parameter after the colon, empty if there is none. A gate changes the
// product instead of adding a factor.
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

// CheckRule reports what is wrong with a rule: names of [Rules], each with its parameter after a colon, joined by "*".
func CheckRule(s string) error {
	_, err := parseRule(s)
	return err
}

// product is several rules that must all agree.
type product struct {
	parts []rule
	gated bool    // change_sensitive is among them: it applies to the own ad too
	soft  bool    // and its gate is soft
	theta float64 // of the gate
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

// parseRule parses names joined by "*".
func parseRule(s string) (product, error) {
	var r product
	for _, one := range strings.Split(s, "*") {
		name, param, colon := strings.Cut(strings.TrimSpace(one), ":")
		f, ok := families[name]
		if !ok {
			return r, fmt.Errorf("gossip: rule %.80q: %.40q is not known: want %s, joined by *", s, name,
				strings.Join(Rules(), ", "))
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

// hops parses a number of hops; def if the parameter is empty.
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

// span parses a duration; ok = the parameter is meant as one.
func span(param string) (d time.Duration, ok bool, err error) {
	if !strings.HasSuffix(param, "s") {
		return 0, false, nil
	}
	if d, err = time.ParseDuration(param); err != nil || d <= 0 || d > maxDistance {
		return 0, true, fmt.Errorf("%.40q is no time of more than 0 and at most %v", param, maxDistance)
	}
	return d, true, nil
}

// fraction parses a number of more than 0 and at most 1.
func fraction(param string) (float64, error) {
	x, err := strconv.ParseFloat(param, 64)
	if err != nil || !(x > 0 && x <= 1) {
		return 0, fmt.Errorf("%.40q is no number of more than 0 and at most 1", param)
	}
	return x, nil
}
