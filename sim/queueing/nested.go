package queueing

import "bytes"

// MaxNested bounds how deep the parts of a YAML file may lie in each other. The parser takes memory with the square
// of the depth: a file of 100 kB could ask for all there is.
const MaxNested = 100

// Nested returns the line of what lies deeper in a YAML file than MaxNested, 0 where nothing does. It looks at
// brackets, and at keys and dashes that stand in one line; what texts have of them counts too, since nothing that
// people write has so many that are never closed.
func Nested(b []byte) (line int) {
	open := 0
	for n := 1; len(b) > 0; n++ {
		text, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		keys := 0
		for k, c := range text {
			switch c {
			case '[', '{':
				open++
			case ']', '}':
				open = max(open-1, 0)
			case ':', '-', '?':
				if open == 0 && (k+1 == len(text) || text[k+1] == ' ' || text[k+1] == '\t') {
					keys++
				}
			case '#':
				if open == 0 && keys == 0 {
					keys = -len(text) // a comment
				}
			}
			if open > MaxNested || keys > MaxNested {
				return n
			}
		}
	}
	return 0
}
