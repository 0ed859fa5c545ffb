package utility

import (
	"fmt"
	"strconv"
	"strings"
)

// Usual is the function of policy utility, PolicyName, where it names none.
const (
	Usual      = "balanced"
	PolicyName = "utility"
)

// Preset is a function that has a name.
type Preset struct {
	Name      string
	Parameter string // what stands after a colon; "" = nothing
	Default   float64
	What      string
	make      func(x float64) Function
}

// Presets are the functions of [1].
var Presets = []Preset{
	{"um_p1", "", 0, "policy 1: the credits", func(float64) Function { return sum(term("value", 1)) }},
	{"um_p2", "", 0, "policy 2: credits × expected response time", func(float64) Function { return valueTimesResponse() }},
	{"um_p3", "", 0, "policy 3: as 2, in a sigmoid", func(float64) Function { return compressed(valueTimesResponse()) }},
	{"um_p4", "", 0, "policy 4: expected response time + nearness to completion",
		func(float64) Function { return sum(term("response_time", 1), term("near_completion", 1)) }},
	{"um_p5", "", 0, "policy 5: as 4, in a sigmoid",
		func(float64) Function { return compressed(sum(term("response_time", 1), term("near_completion", 1))) }},
	{"credit", "weight", 0.6, "equation 5.1: w × credits + (1 − w) × times; 0.5 to 0.7 gives priority at little cost",
		func(w float64) Function {
			times := Term{[]string{"response_time", "near_completion"}, 1 - w, Normaliser{Kind: SigmoidMax, Alpha: 5}}
			return sum(Term{[]string{"value"}, w, Normaliser{Kind: Max}}, times)
		}},
	{"near", "weight", 0.1, "equation 5.3: w × nearness to completion + (1 − w) × expected response time",
		func(w float64) Function { return sum(term("near_completion", w), term("response_time", 1-w)) }},
	{"shape", "alpha", 10, "equation 5.5: a sigmoid of the times; 10 was best",
		func(a float64) Function {
			return sum(Term{[]string{"response_time", "near_completion"}, 1, Normaliser{Kind: SigmoidMax, Alpha: a}})
		}},
	{"balanced", "alpha", 5, "credits, expected response time and nearness to completion alike",
		func(a float64) Function { return alike(a, "value", "response_time", "near_completion") }},
	{"times", "alpha", 5, "expected response time and nearness to completion alike [1, section 6.3, NonData]",
		func(a float64) Function { return alike(a, "response_time", "near_completion") }},
	{"data", "alpha", 5, "times and the transfer of inputs alike [1, section 6.3]",
		func(a float64) Function { return alike(a, "response_time", "near_completion", "transfer_time") }},
	{"data_money", "alpha", 5, "credits, times and the transfer of inputs alike",
		func(a float64) Function {
			return alike(a, "value", "response_time", "near_completion", "transfer_time")
		}},
}

func term(metric string, weight float64) Term {
	return Term{[]string{metric}, weight, Normaliser{Kind: Identity}}
}

func sum(terms ...Term) Function { return Function{Terms: terms, Combine: Sum} }

func valueTimesResponse() Function {
	return Function{Terms: []Term{term("value", 1), term("response_time", 1)}, Combine: Product}
}

// compressed is [1, equation 4.9].
func compressed(u Function) Function {
	u.Outer = Normaliser{Kind: Sigmoid, Alpha: 0.5}
	return u
}

func alike(alpha float64, metrics ...string) (u Function) {
	for _, m := range metrics {
		u.Terms = append(u.Terms, Term{[]string{m}, 1, Normaliser{Kind: SigmoidMax, Alpha: alpha}})
	}
	u.Combine = Sum
	return u
}

// Combined is the function of the parameter study [1, equation 5.7]: weights and alphas of value, expected response
// time and nearness to completion.
func Combined(weights, alphas [3]float64) (u Function) {
	for k, m := range []string{"value", "response_time", "near_completion"} {
		u.Terms = append(u.Terms, Term{[]string{m}, weights[k], Normaliser{Kind: SigmoidOne, Alpha: alphas[k]}})
	}
	u.Combine = Sum
	return u
}

// Parse reads the name of a preset, as um_p1 or credit:0.6.
func Parse(t string) (Function, error) {
	name, parameter, has := strings.Cut(t, ":")
	var names []string
	for _, p := range Presets {
		if names = append(names, p.Name); p.Name != name {
			continue
		}
		x := p.Default
		switch {
		case has && p.Parameter == "":
			return Function{}, fmt.Errorf("%.40q: %s has no parameter: want it alone", t, name)
		case has:
			var err error
			if x, err = strconv.ParseFloat(parameter, 64); err != nil || !p.allows(x) {
				return Function{}, fmt.Errorf("%.40q: %s %.20q: want a number %s, as in %s:%v", t, p.Parameter,
					parameter, p.bounds(), name, p.Default)
			}
		}
		return p.make(x), nil
	}
	return Function{}, fmt.Errorf("%.40q: no utility function has this name: want one of %s", t,
		strings.Join(names, ", "))
}

func (p *Preset) allows(x float64) bool {
	if p.Parameter == "weight" {
		return x >= 0 && x <= 1
	}
	return x > 0 && x <= 1e6
}

func (p *Preset) bounds() string {
	if p.Parameter == "weight" {
		return "from 0 to 1"
	}
	return "above 0, and at most 1e6"
}
