package utility

import (
	"math"
	"strings"
	"testing"

	"skep/document"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 5e-9*max(1, math.Abs(b)) }

func mustParse(t *testing.T, name string) *Function {
	t.Helper()
	u, err := Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Check(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &u
}

// of is the utility of the first of some options.
func of(u *Function, all ...Facts) float64 {
	var c Cycle
	c.Begin(u)
	for k := range all {
		c.See(&all[k])
	}
	return c.Of(&all[0])
}

// [1, equations 4.7 to 4.9]: a task of an hour that has waited two hours and has an hour left.
func TestPolicies(t *testing.T) {
	f := Facts{Value: 10, Waited: 7200, Length: 3600, Remaining: 3600}
	for name, want := range map[string]float64{"um_p1": 10, "um_p2": 30, "um_p3": 0.99999939, "um_p4": 4,
		"um_p5": 0.76159416} {
		if got := of(mustParse(t, name), f); !near(got, want) {
			t.Errorf("%s: %.9f, want %v", name, got, want)
		}
	}
}

func TestSigmoids(t *testing.T) {
	for _, x := range []struct {
		norm    string
		x, most float64
		want    float64
	}{
		{"sigmoid:0.5", 0, 0, 0}, {"sigmoid:0.5", 1, 0, 0.24491866}, {"sigmoid:0.5", 2, 0, 0.46211716},
		{"sigmoid:0.5", 4, 0, 0.76159416}, {"sigmoid:0.5", 10, 0, 0.98661430},
		{"sigmoid:0.5:3", 3, 0, 0}, {"sigmoid:0.5:3", 2, 0, 0}, {"sigmoid:0.5:3", 5, 0, 0.46211716},
		{"sigmoid_max:5", 7, 7, 0.98661430}, {"sigmoid_max:5", 0, 0, 0}, {"sigmoid_one:10", 0, 0, 1},
		{"sigmoid_one:1", 4, 0, 2 / (math.Exp(-4) + 1)}, {"max", 3, 6, 0.5}, {"max", 0, 0, 0}, {"identity", 3, 6, 3},
	} {
		n, err := ParseNormaliser(x.norm)
		if got := n.Of(x.x, x.most); err != nil || !near(got, x.want) || n.String() != x.norm {
			t.Errorf("%s of %v, the largest is %v: %.9f, want %v; %v, %v", x.norm, x.x, x.most, got, x.want, n, err)
		}
	}
}

// The functions of the sensitivity study, by their formulas [1, equations 5.1 to 5.7].
func TestSensitivityStudy(t *testing.T) {
	a := Facts{Value: 6, Waited: 600, Length: 2000, Remaining: 1000}  // ERT 0.8, NTCT 2
	b := Facts{Value: 12, Waited: 2400, Length: 1600, Remaining: 800} // ERT 2, NTCT 2
	s := func(alpha, x float64) float64 { return 2/(math.Exp(-alpha*x)+1) - 1 }
	for name, want := range map[string]float64{
		"credit:0.6": 0.6*6/12 + 0.4*s(5, 2.8/4),
		"credit:0":   s(5, 2.8/4),
		"credit:1":   0.5,
		"near:0.1":   0.1*2 + 0.9*0.8,
		"shape:10":   s(10, 2.8/4),
		"times":      s(5, 0.4) + s(5, 1),
		"balanced":   s(5, 0.5) + s(5, 0.4) + s(5, 1),
		"data":       s(5, 0.4) + s(5, 1) + s(5, 1),
	} {
		if got := of(mustParse(t, name), a, b); !near(got, want) {
			t.Errorf("%s: %.9f, want %.9f", name, got, want)
		}
	}
	u := Combined([3]float64{0.2, 0.8, 0.5}, [3]float64{1, 10, 2})
	if got, want := of(&u, a, b), 0.2*(1+s(1, 6))+0.8*(1+s(10, 0.8))+0.5*(1+s(2, 2)); !near(got, want) {
		t.Errorf("equation 5.7: %.9f, want %.9f", got, want)
	}
}

// [1, Table 7.1]: v = 100, L = 1000 s, f = 0.1.
func TestTechniques(t *testing.T) {
	want := [][]float64{{90, 100, 100}, {0.09, 0.0966666667, 0.0516666667}, {0.09, 0.0966666667, 0.1}}
	for h, row := range want {
		for q, x := range row {
			if got := OfTechnique(Heuristic(h), Technique(q), 100, 1000, 0.1); !near(got, x) {
				t.Errorf("heuristic %d, technique %d: %.9f, want %v", h, q, got, x)
			}
		}
	}
}

// Each metric is better where its fact is, in each preset.
func TestMetricsAreMonotone(t *testing.T) {
	base := Facts{Value: 5, Waited: 100, Length: 1000, Remaining: 500, Transfer: 50, Cost: 20, Risk: 0.2}
	better := map[string]func(f *Facts){
		"value": func(f *Facts) { f.Value++ }, "response_time": func(f *Facts) { f.Waited++ },
		"near_completion": func(f *Facts) { f.Remaining-- }, "remaining_time": func(f *Facts) { f.Remaining-- },
		"transfer_time": func(f *Facts) { f.Transfer-- }, "cost": func(f *Facts) { f.Cost-- },
		"risk": func(f *Facts) { f.Risk -= 0.1 },
	}
	for _, m := range Metrics {
		f := base
		better[m.Name](&f)
		if !(m.Of(&f) > m.Of(&base)) {
			t.Errorf("%s: %v, better %v", m.Name, m.Of(&base), m.Of(&f))
		}
		if m.What == "" {
			t.Errorf("%s: nothing says what it is", m.Name)
		}
	}
}

// Whatever facts are, a utility can be compared.
func TestUtilitiesAreSane(t *testing.T) {
	odd := []float64{0, -1, 1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64}
	for _, p := range Presets {
		u := mustParse(t, p.Name)
		for _, x := range odd {
			for _, y := range odd {
				f := Facts{x, y, x, y, x, y, x}
				if got := of(u, f, Facts{y, x, y, x, y, x, y}); !(got >= 0) || math.IsInf(got, 0) {
					t.Fatalf("%s of %v: %v", p.Name, f, got)
				}
			}
		}
	}
}

func read(t *testing.T, text string) (u Function, err error) {
	t.Helper()
	f := document.Reader{Name: "f.yaml"}
	body, err := f.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range f.Mapping(body, "file", "utility") {
		u = Read(&f, e)
	}
	return u, f.Err()
}

// Terms in a file are the same as the preset.
func TestRead(t *testing.T) {
	u, err := read(t, `utility:
  terms:
    - {metric: value, weight: 0.6, norm: max}
    - {metric: [response_time, near_completion], weight: 0.4, norm: "sigmoid_max:5"}
`)
	if err != nil {
		t.Fatal(err)
	}
	a, b := Facts{Value: 6, Waited: 600, Length: 2000, Remaining: 1000}, Facts{Value: 12, Length: 1600, Remaining: 800}
	if got, want := of(&u, a, b), of(mustParse(t, "credit:0.6"), a, b); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	u, err = read(t, "utility: {combine: mean, outer: 'sigmoid:0.5', terms: [{metric: value, weight: 3}, "+
		"{metric: risk}]}\n")
	if got, want := of(&u, Facts{Value: 6, Risk: 0.5}), math.Tanh((3*6+0.5)/4/4); err != nil || !near(got, want) {
		t.Errorf("%v, %v: want %v", got, err, want)
	}
	if u, err = read(t, "utility: um_p2\n"); err != nil || u.Combine != Product || len(u.Terms) != 2 {
		t.Errorf("%+v, %v: want policy 2", u, err)
	}
}

// Errors name the term, the value and what would be right, all at once.
func TestReadErrors(t *testing.T) {
	for text, want := range map[string][]string{
		"utility: um_p9\n":     {`f.yaml:1:10: utility "um_p9": no utility function has this name: want one of um_p1, `},
		"utility: um_p1:2\n":   {`"um_p1:2": um_p1 has no parameter: want it alone`},
		"utility: credit:2\n":  {`weight "2": want a number from 0 to 1, as in credit:0.6`},
		"utility: shape:0\n":   {`alpha "0": want a number above 0, and at most 1e6, as in shape:10`},
		"utility: shape:NaN\n": {`alpha "NaN": want`},
		`utility:
  combine: add
  terms:
    - {metric: price, weight: -1}
    - {metric: value, norm: "sigmoid:x"}
    - {metric: value, norm: tanh}
    - {metric: value, norm: "max:3"}
    - {metric: value, norm: sigmoid}
    - {metric: value, wieght: 1}
`: {`f.yaml:2:12: combine "add": want one of sum, mean, product`,
			`terms[0] metric "price": no metric has this name: want one of value, response_time, `,
			`terms[0] weight "-1": want a number from 0 on, as in 0.6`,
			`f.yaml:5:29: terms[1] norm "sigmoid:x": alpha "x": want a number above 0, as in sigmoid:0.5`,
			`terms[2] norm "tanh": no normaliser has this name: want one of identity, max, sigmoid, `,
			`terms[3] norm "max:3": want max alone, as in max`,
			`terms[4] norm "sigmoid": want sigmoid:ALPHA, or sigmoid:ALPHA:THETA, as in sigmoid:0.5`,
			`unknown key "wieght": want one of metric, weight, norm`},
		"utility: {terms: []}\n":                           {"terms: there are 0: want 1 to 16"},
		"utility: {terms: 3}\n":                            {"terms: want a list, as in [{metric: value, weight: 0.6}]"},
		"utility: {terms: [{weight: 1}]}\n":                {"terms[0]: metric: there are 0: want 1 to 16"},
		"utility: {terms: [{metric: value, weight: 0}]}\n": {"terms: all weights are 0: want one above 0"},
		"utility: {outer: max, terms: [{metric: value}]}\n": {
			`outer: "max": needs the largest of all: want identity, sigmoid:ALPHA or sigmoid_one:ALPHA`},
	} {
		_, err := read(t, text)
		if err == nil {
			t.Errorf("%s: read", text)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s%v\nwant %s", text, err, w)
			}
		}
	}
}
