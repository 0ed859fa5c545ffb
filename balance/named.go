package balance

import "slices"

// named is the classes that a column names, shared by all columns that name the same ones.
type named struct {
	classes []int32
	columns int
}

func (l *named) list() []int32 {
	if l == nil {
		return nil
	}
	return l.classes
}

// naming returns the shared list of those classes in the place of the one that a column had.
func (r *rates) naming(was *named, list []int32) *named {
	if slices.Equal(was.list(), list) {
		return was
	}
	if was != nil {
		was.columns--
	}
	if len(list) == 0 {
		return nil
	}
	for _, l := range r.lists {
		if l != nil && l.columns > 0 && slices.Equal(l.classes, list) {
			l.columns++
			return l
		}
	}
	if was == nil || was.columns > 0 {
		was = new(named)
	}
	was.columns, was.classes = 1, append(was.classes[:0], list...)
	return was
}

// fewClasses are looked through.
const fewClasses = 16

// classOf returns the index of a class; false if no column names it.
func (r *rates) classOf(name string) (int32, bool) {
	if r.classes != nil {
		i, ok := r.classes[name]
		return i, ok
	}
	for i := range r.names {
		if r.names[i] == name && name != "" {
			return int32(i), true
		}
	}
	return 0, false
}
