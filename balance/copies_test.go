package balance

import (
	"testing"

	"skep/grid"
)

// Copies says by its name what a policy is.
func TestCopiesNamesTheCopiers(t *testing.T) {
	for _, name := range Names() {
		p, err := Make(name, &Config{}, grid.NewRand(1, 1))
		if err != nil {
			continue // it needs a parameter
		}
		if _, is := p.(Copier); is != Copies(name) || is != Copies(name+":2") {
			t.Errorf("%s: a copier is %v, by name %v", name, is, Copies(name))
		}
	}
}
