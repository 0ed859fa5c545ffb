package suspend

import "testing"

func TestParse(t *testing.T) {
	const rest = " 1 1 1 0 -1 4194560 1 1 0 0 1 1 0 0 20 0 "
	for _, c := range []struct {
		stat           string
		lives, stopped bool
	}{
		{"7 (sh) S" + rest + "1 0", true, false},
		{"7 (a) T (b)) T" + rest + "1 0", true, true},
		{"7 (traced) t" + rest + "1 0", true, true},
		{"7 (ended) Z" + rest + "1 0", false, false},
		{"7 (main thread has ended) Z" + rest + "3 0", true, false},
		{"7 (cut) S 1", false, false},
		{"", false, false},
	} {
		p, lives := parse(7, []byte(c.stat))
		if lives != c.lives || lives && (p.Stopped != c.stopped || p.PID != 7) {
			t.Errorf("%q: %+v, lives %v", c.stat, p, lives)
		}
	}
}
