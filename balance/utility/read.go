package utility

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
)

// Read reads a function from a YAML file: the name of a preset, or terms.
//
//	utility: credit:0.6
//
//	utility:
//	  combine: sum                # or mean, product
//	  outer: sigmoid:0.5          # of what is combined
//	  terms:
//	    - {metric: value, weight: 0.6, norm: max}
//	    - {metric: [response_time, near_completion], weight: 0.4, norm: "sigmoid_max:5"}
//
// What is wrong is noted with its place, the term, the value, and what would be right.
func Read(f *document.Reader, e document.Entry) (u Function) {
	if t, ok := document.Scalar(e.Value); ok {
		u, err := Parse(t)
		if err != nil {
			f.At(e.Value, "%s %v, or terms", e.Key, err)
		}
		return u
	}
	u.Combine, u.Outer = Sum, Normaliser{Kind: Identity}
	before := f.Invalid()
	for _, x := range f.Mapping(e.Value, e.Key, "combine", "outer", "terms") {
		switch x.Key {
		case "combine":
			f.Value(x, func(t string) error {
				if u.Combine = t; !slices.Contains(combinations, t) {
					return fmt.Errorf("%.40q: want one of %s", t, strings.Join(combinations, ", "))
				}
				return nil
			})
		case "outer":
			readNormaliser(f, x, &u.Outer)
		case "terms":
			u.Terms = readTerms(f, x)
		}
	}
	if f.Invalid() == before {
		if err := u.Check(); err != nil {
			f.At(e.Value, "%s %v", e.Key, strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	return u
}

func readNormaliser(f *document.Reader, e document.Entry, n *Normaliser) {
	f.Value(e, func(t string) (err error) {
		*n, err = ParseNormaliser(t)
		return err
	})
}

func readTerms(f *document.Reader, e document.Entry) (out []Term) {
	list, ok := e.Value.(*ast.SequenceNode)
	if !ok {
		f.At(e.Value, "terms: want a list, as in [{metric: value, weight: 0.6}]")
		return nil
	}
	for k, n := range list.Values {
		t := Term{Weight: 1, Norm: Normaliser{Kind: Identity}}
		what := fmt.Sprintf("terms[%d]", k)
		for _, x := range f.Mapping(n, what, "metric", "weight", "norm") {
			x.Key = what + " " + x.Key
			switch strings.TrimPrefix(x.Key, what+" ") {
			case "metric":
				t.Metrics = f.Texts(x.Value, x.Key)
				for _, m := range t.Metrics {
					if metric(m) == nil {
						f.At(x.Value, "%s %.40q: no metric has this name: want one of %s", x.Key, m, strings.Join(Names(), ", "))
					}
				}
			case "weight":
				f.Value(x, func(v string) error {
					w, err := strconv.ParseFloat(v, 64)
					if t.Weight = w; err != nil || !(w >= 0 && w <= math.MaxFloat32) {
						return fmt.Errorf("%.20q: want a number from 0 on, as in 0.6", v)
					}
					return nil
				})
			case "norm":
				readNormaliser(f, x, &t.Norm)
			}
		}
		out = append(out, t)
	}
	return out
}
