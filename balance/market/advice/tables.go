package advice

import (
	"strconv"
	"strings"
)

// Row is a row of a table.
type Row struct {
	Figure, Number int
	Features
	Ranks [][]string // protocols by rank, the best first
}

// Tables returns the rows of figures 63 to 66, in their order.
func Tables() (rows []Row) {
	for line := range strings.Lines(tables) {
		if line = strings.TrimSpace(line); line != "" {
			rows = append(rows, parseRow(line))
		}
	}
	return rows
}

// parseRow parses a line of the tables: figure and number, a word for each of the features, and the ranks.
func parseRow(line string) Row {
	conditions, ranks, _ := strings.Cut(line, "|")
	cells := strings.Fields(conditions)
	var r Row
	r.Figure, _ = strconv.Atoi(cells[0])
	r.Number, _ = strconv.Atoi(cells[1])
	for k := range features {
		*features[k].of(&r.Features) = features[k].parse(cells[2+k])
	}
	for rank := range strings.SplitSeq(ranks, ",") {
		r.Ranks = append(r.Ranks, strings.Fields(rank))
	}
	return r
}

// tables are the figures [1]. The columns are figure, row, purpose, deadlines, speeds, delays, servers, load,
// background, grain, bursts, sharing, sizes. What the figures call no delay is at most low here.
const tables = `
63  1 completion - equal   none/low few  any    none        any    low  time       identical | cda rr
63  2 completion - equal   none/low few  any    medium/high fine   low  time       identical | cda
63  3 completion - equal   none/low few  any    medium      fine   low  time       variable  | cda
63  4 completion - equal   none/low few  any    medium      coarse low  time       variable  | cda rr
63  5 completion - equal   none/low any  high   medium      fine   high time       variable  | cda rr
63  6 completion - equal   none/low few  high   medium      coarse high time       variable  | cda rr
63  7 completion - unequal none/low few  any    medium      fine   low  time       variable  | cda
63  8 completion - unequal none/low few  medium medium      coarse low  time       variable  | psp cda
63  9 completion - unequal none/low few  high   medium      coarse low  time       variable  | cda
63 10 completion - unequal none/low many high   medium      coarse low  time       variable  | cda
63 11 completion - unequal high     few  high   medium      coarse low  time       variable  | psp
63 12 completion - equal   none/low few  any    medium/high fine   low  processors variable  | cda
63 13 completion - equal   none/low few  any    medium      coarse low  processors variable  | cda rr
63 14 completion - unequal none/low few  any    medium      fine   low  processors variable  | cda
63 15 completion - unequal none/low many high   medium      fine   low  processors variable  | cda
63 16 completion - unequal high     few  high   medium      fine   low  processors variable  | cda rr
63 17 completion - unequal none/low few  high   medium      fine   high processors variable  | cda rr

64  1 bids - equal   none/low few  any  none   any    low  any variable | pe_a pe_p, cda, hbp
64  2 bids - equal   none/low few  any  medium coarse low  any variable | pe_a, pe_p, cda
64  3 bids - equal   none/low few  any  medium fine   low  any variable | pe_a, pe_p, cda
64  4 bids - equal   none/low few  high medium coarse high any variable | pe_a, pe_p, cda
64  5 bids - unequal none/low few  any  none   any    low  any variable | pe_a, pe_p, cda psp
64  6 bids - unequal none/low few  any  medium coarse low  any variable | pe_a, pe_p, hbp_t
64  7 bids - unequal none/low few  any  medium fine   low  any variable | pe_a, pe_p, cda psp
64  8 bids - unequal none/low many high medium coarse low  any variable | pe_a, pe_p, pda
64  9 bids - unequal high     few  high medium coarse low  any variable | psp, hbp, cda

65  1 hard tight          equal none/low few any none   any    any any any | pe_a pe_p, hbp hbp_t
65  2 hard tight          equal none/low few any medium coarse any any any | pe_a, pe_p, hbp
65  3 hard loose          equal none/low few any medium coarse any any any | pe_a, pe_p, hbp_t
65  4 soft tight/moderate equal none/low few any medium coarse any any any | pe_a, pe_p, hbp
65  5 soft loose          equal none/low few any medium coarse any any any | pe_a, pe_p, cda

66  6 hard tight          unequal none/low    few  any         none        any    any any any | cda_res, hbp_t, psp
66  7 hard tight          unequal none/low    few  low         medium      coarse any any any | cda fifo sjf psp
66  8 hard tight          unequal none/low    few  medium/high medium      coarse any any any | pe_a, pe_p hbp_t
66  9 hard moderate       unequal none/low    few  low         medium      coarse any any any | pe_a, cda sjf hbp_t
66 10 hard moderate       unequal none/low    few  medium/high medium      coarse any any any | hbp_t, sjf, cda
66 11 hard loose          unequal none/low    few  low         medium      coarse any any any | pe_a, cda sjf hbp_t pe_p
66 12 hard loose          unequal none/low    few  medium/high medium      coarse any any any | pe_a, hbp_t pe_p
66 13 soft any            unequal none/low    few  any         medium      coarse any any any | pe_a, pe_p, cda_tdb
66 14 hard tight          unequal none/low    many high        none        any    any any any | cda_res, sjf, hbp_t
66 15 hard tight          unequal none/low    many high        medium      coarse any any any | sjf, hbp_t, psp cda
66 16 hard moderate       unequal none/low    many high        medium      coarse any any any | hbp_t, cda, sjf
66 17 hard loose          unequal none/low    many high        medium      coarse any any any | pe_a, hbp_t, pda
66 18 soft any            unequal none/low    many high        medium      coarse any any any | pe_a, pe_p, cda sjf fifo
66 19 hard tight          unequal medium/high few  high        none/medium coarse any any any | pe_p, cda hbp
66 20 hard moderate/loose unequal medium/high few  high        medium      coarse any any any | cda, pe_p, hbp
`
