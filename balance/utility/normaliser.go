package utility

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Normaliser turns a figure x into one that can be added to others. Each is non-decreasing.
type Normaliser struct {
	Kind string

	// Alpha is how soon a sigmoid saturates: higher tells small figures apart and large ones no more.
	Alpha float64

	// Theta is the figure up to which a sigmoid is 0.
	Theta float64
}

// The kinds of normalisers.
const (
	Identity   = "identity"    // x
	Max        = "max"         // x / x_max, with the largest x of the options that are compared
	Sigmoid    = "sigmoid"     // 2 / (exp(−α (x − θ)) + 1) − 1, and 0 up to θ [1, equation 4.2]
	SigmoidMax = "sigmoid_max" // 2 / (exp(−α x / x_max) + 1) − 1 [1, equations 5.2 and 5.5]

	// SigmoidOne is 2 / (exp(−α x) + 1), without the −1 [1, equation 5.9]: each option has the 1 of each term, so that
	// many small ones are worth more together.
	SigmoidOne = "sigmoid_one"
)

var kinds = []string{Identity, Max, Sigmoid, SigmoidMax, SigmoidOne}

// ParseNormaliser reads "identity", "max", "sigmoid:ALPHA", "sigmoid:ALPHA:THETA", "sigmoid_max:ALPHA" or
// "sigmoid_one:ALPHA".
func ParseNormaliser(t string) (n Normaliser, err error) {
	kind, rest, has := strings.Cut(t, ":")
	n.Kind = kind
	var numbers []string
	if has {
		numbers = strings.Split(rest, ":")
	}
	most, want := 1, kind+":ALPHA"
	switch kind {
	case Identity, Max:
		most, want = 0, kind+" alone"
	case Sigmoid:
		most, want = 2, "sigmoid:ALPHA, or sigmoid:ALPHA:THETA"
	case SigmoidMax, SigmoidOne:
	default:
		return n, fmt.Errorf("%.40q: no normaliser has this name: want one of %s", t, strings.Join(kinds, ", "))
	}
	if len(numbers) > most || most > 0 && len(numbers) == 0 {
		return n, fmt.Errorf("%.40q: want %s, as in %s", t, want, example(kind))
	}
	for k, to := range []*float64{&n.Alpha, &n.Theta}[:len(numbers)] {
		x, err := strconv.ParseFloat(numbers[k], 64)
		if what := []string{"alpha", "theta"}[k]; err != nil || math.IsInf(x, 0) || !(x > 0 || k == 1 && x == 0) {
			return n, fmt.Errorf("%.40q: %s %.20q: want a number %s, as in %s", t, what, numbers[k],
				[]string{"above 0", "from 0 on"}[k], example(kind))
		}
		*to = x
	}
	return n, nil
}

func example(kind string) string {
	switch kind {
	case Identity, Max:
		return kind
	case Sigmoid:
		return "sigmoid:0.5"
	}
	return kind + ":5"
}

func (n Normaliser) String() string {
	t := n.Kind
	if slices.Contains([]string{Sigmoid, SigmoidMax, SigmoidOne}, t) {
		t += ":" + strconv.FormatFloat(n.Alpha, 'g', -1, 64)
	}
	if n.Theta > 0 {
		t += ":" + strconv.FormatFloat(n.Theta, 'g', -1, 64)
	}
	return t
}

// Of normalises x, where most is the largest.
func (n Normaliser) Of(x, most float64) float64 {
	switch n.Kind {
	case Max:
		return over(x, most)
	case Sigmoid:
		return logistic(n.Alpha * max(0, x-n.Theta))
	case SigmoidMax:
		return logistic(n.Alpha * over(x, most))
	case SigmoidOne:
		return 1 + logistic(n.Alpha*x)
	}
	return x
}

// logistic is 2 / (exp(−x) + 1) − 1, in the form that loses no digits.
func logistic(x float64) float64 { return math.Tanh(x / 2) }

// over is 0 where all figures are.
func over(x, most float64) float64 {
	if most > 0 {
		return x / most
	}
	return 0
}
