package environ

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"skep/grid"
)

// Source is where the submitter's own variables come from.
type Source struct {
	Lookup func(name string) (string, bool)
	All    func() []string // NAME=VALUE
}

// ownObserved are variables of the submitter that mean something on this machine or in this session only.
var ownObserved = []string{"HOME", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP", "HOSTNAME", "USER", "LOGNAME", "SHELL",
	"SHLVL", "_", "MAIL", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMUX", "KRB5CCNAME", "NOTIFY_SOCKET",
	"SESSION_MANAGER", "INVOCATION_ID", "TERM", "TTY", "COLUMNS", "LINES", "PS1"}

// ownPrefixes begin the names of such variables.
var ownPrefixes = []string{"SKEP_", "SSH_", "XDG_", "DBUS_", "GPG_", "SUDO_", "SYSTEMD_"}

// Variables returns a task's variables: with all those of the submitter but what is of this machine or session, and of
// names each NAME=VALUE, or a NAME alone with the submitter's value. Later ones win.
func (s *Source) Variables(names []string, all bool) (map[string]string, error) {
	vars := map[string]string{}
	if all {
		for _, entry := range s.All() {
			name, value, _ := strings.Cut(entry, "=")
			if travels(name) && utf8.ValidString(value) {
				vars[name] = value
			}
		}
	}
	var problems []error
	for _, text := range names {
		name, value, given := strings.Cut(text, "=")
		if name == "" {
			problems = append(problems, fmt.Errorf("%.80q: want NAME=VALUE, or NAME of a variable that is set here", text))
			continue
		}
		if !given {
			var err error
			if value, err = s.Value(name); err != nil {
				problems = append(problems, err)
				continue
			}
		}
		vars[name] = value
	}
	return vars, errors.Join(problems...)
}

// Value returns the submitter's value of a variable.
func (s *Source) Value(name string) (string, error) {
	value, set := s.Lookup(name)
	switch {
	case !set:
		return "", fmt.Errorf("%.80q: is not set here: want NAME=VALUE, or a variable that is", name)
	case !utf8.ValidString(value):
		return "", fmt.Errorf("%.80q: its value is not UTF-8: it would arrive as something else", name)
	}
	return value, nil
}

// travels reports whether a variable is worth something to a task elsewhere.
func travels(name string) bool {
	return grid.ValidVariable(name) && !slices.Contains(ownObserved, name) &&
		!slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
