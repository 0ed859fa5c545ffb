package document

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// All problems are told at once, in order of position, and unknown or repeated keys are not counted as invalid.
func TestReader(t *testing.T) {
	r := Reader{Name: "f"}
	body, err := r.Parse([]byte("b: [x, {}]\nn: 7\nc: 1\nb: 2\na: no\n"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, e := range r.Mapping(body, "thing", "a", "b", "n") {
		switch e.Key {
		case "a":
			r.Value(e, func(t string) error { _, err := ParseBool(t); return err })
		case "b":
			texts = r.Texts(e.Value, "b")
		case "n":
			r.Number(e, 1, 6, func(int64) { t.Error("7 is set") })
		}
	}
	want := `f:1:8: b: want a single value
f:2:4: n "7": want a whole number from 1 to 6
f:3:1: unknown key "c": want one of a, b, n
f:4:1: key "b" stands twice
f:5:4: a "no": want true or false`
	if got := r.Err().Error(); got != want || r.Invalid() != 3 || fmt.Sprint(texts) != "[x]" {
		t.Errorf("%d invalid, %v, got\n%s\nwant\n%s", r.Invalid(), texts, got, want)
	}
	if _, err := r.Parse([]byte("a: [")); err == nil || !strings.HasPrefix(err.Error(), "f:1:") {
		t.Errorf("broken: %v", err)
	}
}

func TestValues(t *testing.T) {
	cores := func(t string) (any, error) { return ParseCores(t) }
	size := func(t string) (any, error) { return ParseSize(t) }
	timeout := func(t string) (any, error) { return ParseTimeout(t) }
	days := func(t string) (any, error) { return ParseDays(t) }
	bound := func(t string) (any, error) {
		class, within, next, err := ParseBound(t)
		return fmt.Sprint(class, " ", within, " ", next), err
	}
	for _, c := range []struct {
		parse func(string) (any, error)
		text  string
		want  any // nil = an error
	}{
		{cores, "0.5", 0.5}, {cores, "0", nil}, {cores, "x", nil}, {cores, "1e9", nil},
		{size, "256MiB", int64(256 << 20)}, {size, "2GB", int64(2e9)}, {size, "-1", nil}, {size, "9EiB", nil},
		{timeout, "90s", 90.0}, {timeout, "1.5", 1.5}, {timeout, "-1s", nil}, {timeout, "Inf", nil},
		{days, "30d", 720 * time.Hour}, {days, "1d12h", 36 * time.Hour}, {days, "90m", 90 * time.Minute},
		{days, "0d", time.Duration(0)}, {days, "3650d", 3650 * 24 * time.Hour}, {days, "3650d1s", nil}, {days, "3651d", nil},
		{days, "d", nil}, {days, "", nil}, {days, "-1d", nil}, {days, "1d-2h", nil}, {days, "1.5d", nil}, {days, "1d2d", nil},
		{days, "30", nil}, {days, "87601h", nil}, {days, "99999999d", nil},
		{bound, "a=b=90s:large", "a=b " + (90 * time.Second).String() + " large"},
		{bound, "a=0s:large", nil}, {bound, "a=1s:a", nil}, {bound, "=1s:b", nil}, {bound, "a=1s", nil}, {bound, "a=1s:",
			nil},
	} {
		if got, err := c.parse(c.text); (err != nil) != (c.want == nil) || err == nil && got != c.want {
			t.Errorf("%q: %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}
