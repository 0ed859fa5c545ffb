package advice

import (
	"encoding/csv"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The rows as the figures print them [1], in testdata, with their words for the features. Each word of a row here, and
// each protocol in its rank, is what is printed.
func TestTablesArePrintedSo(t *testing.T) {
	rows := Tables()
	for figure := 63; figure <= 66; figure++ {
		f, err := os.Open(fmt.Sprintf("testdata/figure%d.csv", figure))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil || len(lines) < 2 {
			t.Fatalf("figure %d: %d lines, %v", figure, len(lines), err)
		}
		for _, line := range lines[1:] {
			cell := make(map[string]string)
			for i, name := range lines[0] {
				cell[name] = line[i]
			}
			want := printed(t, figure, cell)
			if len(rows) == 0 {
				t.Fatalf("there is no row for %s", want)
			}
			if got := shown(&rows[0]); got != want {
				t.Errorf("row\n%s, printed is\n%s", got, want)
			}
			rows = rows[1:]
		}
	}
	if len(rows) > 0 {
		t.Errorf("%d rows are printed nowhere", len(rows))
	}
}

// shown is a row in the words of this package.
func shown(r *Row) string {
	words := []string{fmt.Sprint(r.Figure, " ", r.Number)}
	for k := range features {
		words = append(words, features[k].name+" "+features[k].text(*features[k].of(&r.Features)))
	}
	for _, rank := range r.Ranks {
		words = append(words, strings.Join(rank, " "))
	}
	return strings.Join(words, ", ")
}

// columns are the columns of the figures by the names of the features, and their words: a machine park of 32 is few.
var columns = []struct{ feature, column, words string }{
	{"speeds", "resource_diversity", "none=equal high=unequal"},
	{"delays", "comm_delays", "none=none/low high=high moderate/high=medium/high"},
	{"servers", "n_servers", "32=few high=many 32/256="},
	{"load", "load", "any= low=low medium=medium high=high medium/high=medium/high"},
	{"background", "bg_share", "none=none medium=medium medium/high=medium/high none/medium=none/medium"},
	{"grain", "bg_granularity", "-= fine=fine coarse=coarse"},
	{"bursts", "burst", "low=low high=high"},
	{"sizes", "task_size", "identical=identical variable=variable"},
}

// printed is a row of a figure as shown writes it.
func printed(t *testing.T, figure int, cell map[string]string) string {
	t.Helper()
	is := map[string]string{"purpose": map[int]string{63: "completion", 64: "bids"}[figure]}
	for _, c := range columns {
		text, given := cell[c.column]
		if !given {
			continue
		}
		known := false
		for w := range strings.FieldsSeq(c.words) {
			if from, to, _ := strings.Cut(w, "="); from == text {
				is[c.feature], known = strings.ReplaceAll(to, "/", " or "), true
			}
		}
		if !known {
			t.Fatalf("figure %d, row %s: %s %q", figure, cell["nr"], c.column, text)
		}
	}
	for part := range strings.SplitSeq(cell["deadline"], " and ") {
		kind, tightness, _ := strings.Cut(part, "/")
		if kind != "" {
			is["purpose"] = kind
		}
		if is["deadlines"] != "" && tightness != "" {
			tightness = is["deadlines"] + " or " + tightness
		}
		is["deadlines"] = tightness
	}
	if figure == 63 { // the legend: rows 12 to 17 are about supercomputers
		is["sharing"] = "time"
		if len(cell["nr"]) == 2 && cell["nr"] >= "12" {
			is["sharing"] = "processors"
		}
	}
	words := []string{fmt.Sprintf("%d %s", figure, cell["nr"])}
	for k := range features {
		words = append(words, features[k].name+" "+is[features[k].name])
	}
	for _, column := range []string{"recommended", "rank1", "rank2", "rank3"} {
		if text := cell[column]; text != "" {
			names := strings.Split(strings.ToLower(strings.ReplaceAll(text, "-", "_")), ";")
			words = append(words, strings.Join(names, " "))
		}
	}
	return strings.Join(words, ", ")
}
