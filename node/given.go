package node

import (
	"errors"
	"fmt"
)

// checkGiven reports missing execution rates and a wrong order of the given rates. Their ranges are checked as part
// of the ad.
func (c *Config) checkGiven() error {
	var errs []error
	for i := range c.Given {
		r := &c.Given[i]
		if i > 0 && c.Given[i-1].Class >= r.Class {
			errs = append(errs, fmt.Errorf("given rates: class %q comes after %q: want them by name, each once", r.Class, c.Given[i-1].Class))
		}
		if r.Mu == 0 {
			errs = append(errs, fmt.Errorf("given rates: class %q has no execution rate: want it left out, and kept from here by what it needs", r.Class))
		}
	}
	return errors.Join(errs...)
}

// givenRate returns the given execution rate of a class; 0 = none.
func (r *rates) givenRate(name string) float64 {
	for i := range r.cfg.Given {
		if g := &r.cfg.Given[i]; g.Class == name {
			return g.Mu
		}
	}
	return 0
}
