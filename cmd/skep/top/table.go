package top

import "slices"

// table is the rows of a table, one of which is selected. The selection stays with its row when the rows change.
type table[T any] struct {
	rows []T
	id   func(*T) string
	at   int // the selected row
	top  int // the first row that is shown
}

func (t *table[T]) set(rows []T, id func(*T) string) {
	was := ""
	if r := t.selected(); r != nil {
		was = id(r)
	}
	t.rows, t.id = rows, id
	if at := slices.IndexFunc(rows, func(r T) bool { return id(&r) == was }); at >= 0 && t.at > 0 {
		t.at = at
	}
	t.move(0)
}

// move moves the selection.
func (t *table[T]) move(by int) { t.at = max(0, min(t.at+by, len(t.rows)-1)) }

// selected returns the selected row; nil if there is none.
func (t *table[T]) selected() *T {
	if t.at >= len(t.rows) {
		return nil
	}
	return &t.rows[t.at]
}

// shown returns the first and the last row but one of those that are shown in so many lines, the selected one among
// them.
func (t *table[T]) shown(lines int) (from, to int) {
	lines = max(lines, 1)
	t.top = max(0, min(t.top, len(t.rows)-lines))
	t.top = min(t.top, t.at)
	t.top = max(t.top, t.at-lines+1)
	return t.top, min(t.top+lines, len(t.rows))
}
