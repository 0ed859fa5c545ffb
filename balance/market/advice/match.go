package advice

import "fmt"

// Advice is a row that fits a system best.
type Advice struct {
	Row
	Differs []string // what the row is about that the system is not, as in "load medium, not high"
}

// maxAdvice bounds what For returns.
const maxAdvice = 3

// For returns the rows for a system: those of its purpose that differ in the fewest features, and of these those that
// differ in later ones, at most three. A purpose must be stated.
func For(f Features) (best []Advice) {
	least := -1
	for _, r := range Tables() {
		if r.Purpose&f.Purpose == 0 {
			continue
		}
		cost, a := 0, Advice{Row: r}
		for k := range features {
			x := &features[k]
			is, want := *x.of(&f), *x.of(&r.Features)
			if is == 0 || want == 0 || is&want != 0 {
				continue
			}
			cost += 1<<len(features) + 1<<(len(features)-1-k)
			a.Differs = append(a.Differs, fmt.Sprintf("%s %s, not %s", x.name, x.text(want), x.text(is)))
		}
		if least < 0 || cost < least {
			least, best = cost, nil
		}
		if cost == least && len(best) < maxAdvice {
			best = append(best, a)
		}
	}
	return best
}
