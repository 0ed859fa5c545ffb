package store

import (
	"bytes"
	"maps"
	"slices"
)

// table is what the log holds, in memory: the changes that are not in the database yet. A record that is written
// several times meanwhile has one entry, the last, so that the database is spared the others.
type table struct {
	values map[string][]byte // framed; nil = deleted
	runs   []change          // deletions of several, made before all of values

	further int // entries that the runs delete beside those that they name
}

// add makes the changes of a commit, in their order.
func (t *table) add(changes []byte) error {
	if t.values == nil {
		t.values = make(map[string][]byte)
	}
	return eachChange(bytes.Clone(changes), func(c change) error {
		if c.further == 0 {
			t.values[string(c.key)] = c.value
			return nil
		}
		t.runs, t.further = append(t.runs, c), t.further+int(c.further)
		return c.eachKey(func(key []byte) error { delete(t.values, string(key)); return nil })
	})
}

func (t *table) empty() bool { return len(t.values)+len(t.runs) == 0 }

// write makes the changes in the database, in the order of keys: neighbours are on one page.
func (t *table) write(r *records) error {
	for _, c := range t.runs {
		if err := r.apply(c); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if err := r.apply(change{key: []byte(key), value: t.values[key]}); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) clear() { *t = table{} }
