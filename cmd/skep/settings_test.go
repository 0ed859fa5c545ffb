package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"skep/node"
	"skep/sim/net"
)

// DESIGN.md has a row for each setting and knob, of those that there are and of those that went.
func TestSettingsHaveReasons(t *testing.T) {
	b, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, line := range strings.Split(string(b), "\n") {
		cells := strings.Split(line, "|")
		if name := strings.Split(line, "`"); strings.HasPrefix(line, "| `") && len(cells) > 4 {
			rows[name[1]] = cells[2:]
		}
	}
	says := func(name string, cell int, want string) {
		if c := rows[name]; len(c) <= cell || strings.TrimSpace(c[cell]) != want {
			t.Errorf("DESIGN.md says %q of %s: want %s", c, name, want)
		}
	}
	verdict := map[bool]string{true: "goes", false: "stays"}
	for i := range settings {
		if s := &settings[i]; s.name != "task_user" { // went before
			says(s.name, 0, verdict[s.obsolete])
		}
	}
	c := node.Defaults()
	for _, section := range []string{"node", "balance", "gossip", "discovery"} {
		there := net.Knobs(&c, section)
		for name := range there {
			says(section+"."+name, 1, "stays")
		}
		for row, cells := range rows {
			if s, name, _ := strings.Cut(row, "."); s == section && strings.TrimSpace(cells[1]) == "stays" {
				if _, ok := there[name]; !ok {
					t.Errorf("DESIGN.md has %s, and a scenario has not", row)
				}
			}
		}
		for _, name := range obsoleteKnobs[section] {
			says(section+"."+name, 0, "goes")
		}
	}
	for row := range rows {
		if i := slices.IndexFunc(settings, func(s setting) bool { return s.name == row }); i < 0 &&
			!strings.Contains(row, ".") {
			t.Errorf("DESIGN.md has %s, which is no setting", row)
		}
	}
}
