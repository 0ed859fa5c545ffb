package factors

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// Factor is a key of a scenario, and the two values between which its effect is asked for.
type Factor struct {
	Key  string `json:"factor"` // with dots, as in gossip.view or workload.0.rate
	Low  string `json:"low"`
	High string `json:"high"`
}

// Parse reads a factor from KEY=LOW..HIGH.
func Parse(text string) (Factor, error) {
	key, values, found := strings.Cut(text, "=")
	low, high, both := strings.Cut(values, "..")
	f := Factor{Key: strings.TrimSpace(key), Low: strings.TrimSpace(low), High: strings.TrimSpace(high)}
	switch {
	case !found || !both || f.Low == "" || f.High == "" || slices.Contains(strings.Split(f.Key, "."), ""):
		return f, fmt.Errorf("factor %.80q: want KEY=LOW..HIGH, as in gossip.neighbours=4..12", text)
	case f.Key == "replications" || f.Key == "seed" || f.Key == "name":
		return f, fmt.Errorf("factor %.80q: %s is the same in all runs: want another key", text, f.Key)
	case f.Low == f.High:
		return f, fmt.Errorf("factor %.80q: low and high are the same: want two values", text)
	}
	for _, x := range []string{f.Low, f.High} {
		if _, err := value(x); err != nil {
			return f, fmt.Errorf("factor %.80q: %q: is no YAML value", text, x)
		}
	}
	return f, nil
}

// at returns the value at a level of a design.
func (f *Factor) at(level int) string {
	if level > 0 {
		return f.High
	}
	return f.Low
}

// set sets the key in a file to a value.
func (f *Factor) set(file yaml.MapSlice, text string) (yaml.MapSlice, error) {
	v, err := value(text)
	if err != nil {
		return nil, err
	}
	out, err := put(file, strings.Split(f.Key, "."), v)
	if err != nil {
		return nil, fmt.Errorf("factor %s: %w", f.Key, err)
	}
	return out.(yaml.MapSlice), nil
}

// value reads a value as it stands in a file.
func value(text string) (v any, err error) {
	return v, yaml.UnmarshalWithOptions([]byte(text), &v, yaml.UseOrderedMap())
}

// put returns a copy of a node of a file in which what lies under keys is v. A key that a mapping lacks is added; an
// item of a list is named by its place, from 0, or by what its name or its class is.
func put(node any, keys []string, v any) (any, error) {
	if len(keys) == 0 {
		return v, nil
	}
	key := keys[0]
	switch x := node.(type) {
	case nil:
		return put(yaml.MapSlice{}, keys, v)
	case yaml.MapSlice:
		x = slices.Clone(x)
		at := slices.IndexFunc(x, func(e yaml.MapItem) bool { return e.Key == key })
		if at < 0 {
			at, x = len(x), append(x, yaml.MapItem{Key: key})
		}
		var err error
		x[at].Value, err = put(x[at].Value, keys[1:], v)
		return x, err
	case []any:
		x = slices.Clone(x)
		at := item(x, key)
		if at < 0 {
			return nil, fmt.Errorf("%q: the list has no such item: want its place, from 0 to %d, or its name", key, len(x)-1)
		}
		var err error
		x[at], err = put(x[at], keys[1:], v)
		return x, err
	}
	return nil, fmt.Errorf("%q: lies in a value that has no keys", key)
}

// place is where a key lies in a file: an item of a list by its place, however it is named.
func place(node any, keys []string) []string {
	out := slices.Clone(keys)
	for k, key := range keys {
		switch x := node.(type) {
		case yaml.MapSlice:
			at := slices.IndexFunc(x, func(e yaml.MapItem) bool { return e.Key == key })
			if at < 0 {
				return out
			}
			node = x[at].Value
		case []any:
			at := item(x, key)
			if at < 0 {
				return out
			}
			node, out[k] = x[at], strconv.Itoa(at)
		}
	}
	return out
}

// checkPlaces reports factors that set the same key of a file, or of which one sets what the other lies in.
func checkPlaces(file yaml.MapSlice, factors []Factor) error {
	places := make([][]string, len(factors))
	for k, f := range factors {
		places[k] = place(file, strings.Split(f.Key, "."))
		for n, other := range places[:k] {
			if both := min(len(other), len(places[k])); slices.Equal(other[:both], places[k][:both]) {
				return fmt.Errorf("factors %s and %s: set the same key, or one a part of the other: want one of them",
					factors[n].Key, f.Key)
			}
		}
	}
	return nil
}

// item returns the place of the item of a list that is meant by a key; negative = none.
func item(list []any, key string) int {
	if n, err := strconv.Atoi(key); err == nil {
		if n >= 0 && n < len(list) {
			return n
		}
		return -1
	}
	return slices.IndexFunc(list, func(x any) bool {
		m, _ := x.(yaml.MapSlice)
		return slices.ContainsFunc(m, func(e yaml.MapItem) bool {
			return (e.Key == "name" || e.Key == "class") && e.Value == key
		})
	})
}
