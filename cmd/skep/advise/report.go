package advise

import (
	"fmt"
	"math"
	"strings"

	"skep/balance/market/advice"
)

// Report is what is advised, and on what it rests.
type Report struct {
	Numbers []Number `json:"numbers"`
	Rows    []Row    `json:"rows"`
}

// Number is a number that the advice rests on.
type Number struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value"` // nil = not known, or infinite
	Text  string   `json:"text"`
	Word  string   `json:"word,omitempty"` // of the guidelines
	From  string   `json:"from,omitempty"`
}

// Row is a row of the guidelines.
type Row struct {
	Figure    int        `json:"figure"`
	Number    int        `json:"number"`
	Differs   []string   `json:"differs,omitempty"`
	Ranks     [][]string `json:"ranks"`
	Protocol  string     `json:"protocol"` // the best that is to be had here
	Configure []string   `json:"configure"`
}

// source is where numbers come from, by the names of features.
type source map[string]string

// newReport says what is advised for a system of these numbers. configure says how a protocol is had, with the best one
// of a row that is to be had.
func newReport(m *advice.Measured, from source, configure func(*advice.Row) (string, []string)) *Report {
	f, r := m.Features(), &Report{}
	for _, x := range []struct {
		name  string
		value float64
		text  string
	}{
		{"servers", float64(m.Servers), "%.0f"},
		{"speeds", m.Fastest, "%.3g times the slowest"},
		{"load", 100 * m.Load, "%.0f %%"},
		{"background", 100 * m.Background, "%.0f %% of the load"},
		{"grain", 100 * m.Whole, "%.0f %% of a machine"},
		{"delays", m.Delay, "%.2g run times"},
		{"bursts", m.Burst, "%.0f tasks at once"},
		{"sizes", m.Spread, "%.3g times the shortest"},
		{"purpose", m.Bids, "highest bid %.3g times the lowest"},
		{"deadlines", m.Deadline, "%.3g run times"},
	} {
		n := Number{Name: x.name, Text: "not known", Word: advice.WordOf(&f, x.name), From: from[x.name]}
		switch {
		case math.IsInf(x.value, 1):
			n.Text = "the lowest is 0"
		case !math.IsNaN(x.value):
			n.Value, n.Text = &x.value, fmt.Sprintf(x.text, x.value)
		}
		r.Numbers = append(r.Numbers, n)
	}
	for _, a := range advice.For(f) {
		row := Row{Figure: a.Figure, Number: a.Number, Differs: a.Differs, Ranks: a.Ranks}
		row.Protocol, row.Configure = configure(&a.Row)
		r.Rows = append(r.Rows, row)
	}
	return r
}

// Title names a row.
func (r *Row) Title() string {
	title := fmt.Sprintf("row %d of figure %d", r.Number, r.Figure)
	if len(r.Differs) > 0 {
		title += ", which is for " + strings.Join(r.Differs, "; ")
	}
	return title
}

// RankText lists the protocols, as in "1 pe_a, pe_p  2 cda".
func (r *Row) RankText() string {
	var ranks []string
	for k, x := range r.Ranks {
		ranks = append(ranks, fmt.Sprintf("%d. %s", k+1, strings.Join(x, ", ")))
	}
	return strings.Join(ranks, "  ")
}
