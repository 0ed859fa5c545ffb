package document

import "testing"

// Whatever a file has in it, it is a document or an error that says why.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "a: 1\n", "- a: [1, {b: 2}]\n  c: |\n    d\n", "{a, b: , c}",
		"---\n&a !!str b: *a\n...\n", "? a\n: b\n", "[\na: 1\nb: 2\n]\n", "%YAML 1.2\n---\n- - -\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, e := Parse(b)
		if e != nil && (n != nil || e.Text == "" || e.Line < 0) {
			t.Errorf("%v, %+v", n, e)
		}
		if n != nil {
			Place(n)
		}
	})
}
