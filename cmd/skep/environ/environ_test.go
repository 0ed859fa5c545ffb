package environ

import (
	"reflect"
	"strings"
	"testing"
)

// A name alone takes the submitter's value; of all variables those travel that mean something elsewhere.
func TestVariables(t *testing.T) {
	set := map[string]string{"MODE": "fast", "EMPTY": "", "ODD": "\xff"}
	from := Source{
		Lookup: func(name string) (string, bool) { v, ok := set[name]; return v, ok },
		All: func() []string {
			return []string{"MODE=fast", "HOME=/home/ada", "SSH_AUTH_SOCK=/tmp/x", "SKEP_API=/x", "PATH=/conda/bin:/bin",
				"BASH_FUNC_x%%=() {", "EQUALS=a=b", "ODD=\xff"}
		},
	}
	tests := []struct {
		names []string
		all   bool
		want  map[string]string
		wrong string
	}{
		{nil, false, map[string]string{}, ""},
		{[]string{"A=1", "MODE", "EMPTY", "A=2", "B="}, false,
			map[string]string{"A": "2", "MODE": "fast", "EMPTY": "", "B": ""}, ""},
		{[]string{"MODE=slow"}, true, map[string]string{"MODE": "slow", "PATH": "/conda/bin:/bin", "EQUALS": "a=b"}, ""},
		{[]string{"NONE"}, false, nil, `"NONE": is not set here`},
		{[]string{"=x"}, false, nil, `"=x": want NAME=VALUE`},
		{[]string{"ODD"}, false, nil, "its value is not UTF-8"},
	}
	for _, c := range tests {
		got, err := from.Variables(c.names, c.all)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%q: %v: want %q", c.names, err, c.wrong)
			}
		} else if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q, all %v: %v, %v: want %v", c.names, c.all, got, err, c.want)
		}
	}
}

func TestFolder(t *testing.T) {
	for text, want := range map[string]string{"": "", "/a/../b/": "/b", "x/y": "/base/x/y", ".": "/base", "../z": "/z"} {
		if got, err := Folder(text, "/base"); got != want || err != nil {
			t.Errorf("%q: %q, %v: want %q", text, got, err, want)
		}
	}
}
