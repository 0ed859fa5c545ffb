package main

import (
	"slices"
	"strings"
)

// obsoleteSettings were settings of the last version. This one still reads them, so that an old file, environment or
// script does not keep a node from starting, and ignores their values. DESIGN.md says why each went.
var obsoleteSettings = []setting{
	{name: "discovery", shape: several, obsolete: true},
	{name: "task_user", obsolete: true},
}

// obsoleteKnobs were names of pairs of a setting, in the same way.
var obsoleteKnobs = map[string][]string{
	"balance": {"availability", "classes", "debit", "explore", "kpb", "near_tie", "resolve", "rest"},
	"gossip": {"backlog_scale", "beta", "decay", "exchange", "expire", "far", "forget", "gain_load", "hold", "look",
		"min_gap",
		"near", "neighbours", "p0", "pmin", "potential", "reach", "refresh", "target", "theta", "tmax",
		"weight_normal", "weight_plentiful", "weight_scarce"},
}

// settingNames returns the names of settings that the config file has, and those of obsolete ones.
func settingNames() (known, obsolete []string) {
	for i := range settings {
		if s := &settings[i]; s.obsolete {
			obsolete = append(obsolete, s.name)
		} else {
			known = append(known, s.name)
		}
	}
	return known, obsolete
}

// dropObsolete removes what is obsolete from setting values, and returns what was given of it, each with its source.
func dropObsolete(m map[string]settingValue) (given []string) {
	for i := range settings {
		s := &settings[i]
		v := m[s.name]
		if s.obsolete {
			delete(m, s.name)
			if v.source != fromDefault && (len(v.values) > 1 || len(v.values) == 1 && v.values[0] != "") {
				given = append(given, s.name+" ("+v.source+")")
			}
			continue
		}
		if obsoleteKnobs[s.name] == nil {
			continue
		}
		kept := v.values[:0:0]
		for _, pair := range v.values {
			name, _, _ := strings.Cut(pair, "=")
			if slices.Contains(obsoleteKnobs[s.name], name) {
				given = append(given, s.name+" "+name+" ("+v.source+")")
				continue
			}
			kept = append(kept, pair)
		}
		if v.values = kept; len(kept) == 0 {
			v = settingValue{s.def, fromDefault}
		}
		m[s.name] = v
	}
	return given
}

// obsoleteWarning is one line that lists what was given of obsolete settings.
func obsoleteWarning(given []string) string {
	return "these settings have no effect any more, remove them: " + strings.Join(given, ", ")
}
