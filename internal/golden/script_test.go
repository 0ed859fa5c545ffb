package golden

import (
	"errors"
	"strings"
	"testing"
)

// Each output stands beneath its commands, whatever stood there before; all else stays as it is.
func TestOutputIsReplaced(t *testing.T) {
	run := func(line string) (string, error) {
		if line == "fail" {
			return "", errors.New("failed")
		}
		return strings.Repeat(line+"\n", strings.Count(line, "x")), nil
	}
	const right = "# Head.\n\n# About x.\nx\nxx\n----\nx\nxx\nxx\n\nnone\n----\n\n# Tail.\n"
	if got := runScript(t, "script", right, run); got != right {
		t.Errorf("got\n%s", got)
	}
	*update = true
	defer func() { *update = false }()
	const stale = "# Head.\n\n# About x.\nx\nxx\n----\nother\n\nnone\n\n# Tail.\n"
	if got := runScript(t, "script", stale, run); got != right {
		t.Errorf("got\n%s", got)
	}
}
