package rates

import (
	"errors"
	"fmt"

	"skep/grid"
)

// CheckGiven reports missing execution rates and a wrong order of Config.Given. Their ranges are checked as part of the
// ad.
func CheckGiven(given []grid.Rate) error {
	var errs []error
	for i := range given {
		r := &given[i]
		if i > 0 && given[i-1].Class >= r.Class {
			errs = append(errs, fmt.Errorf("given rates: class %q comes after %q: want them by name, each once",
				r.Class, given[i-1].Class))
		}
		if r.Mu == 0 {
			errs = append(errs, fmt.Errorf("given rates: class %q has no execution rate: "+
				"want it left out, and kept from here by what it needs", r.Class))
		}
	}
	return errors.Join(errs...)
}

// givenRate returns the given execution rate of a class; 0 = none.
func (e *Estimator) givenRate(class string) float64 {
	if !e.given {
		return 0
	}
	for i := range e.own {
		if g := &e.own[i]; g.Class == class {
			return g.Mu
		}
	}
	return 0
}
