package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skep/node"
	"skep/node/api/v1"
)

// configName is the file of settings in a data folder.
const configName = "config.yaml"

// Where a setting comes from; each layer covers those before it.
const (
	fromDefault = "default"
	fromFile    = "file"
	fromEnv     = "environment"
	fromFlag    = "flag"
)

// setting is one thing that can be set for a node: in the file by its name, in the environment as SKEP_NAME, on
// the command line as --name with hyphens.
type setting struct {
	name  string
	usage string
	def   []string
	shape shape
	apply func(n *nodeSettings, values []string) error
	// of the flag alone
	flag   string
	secret bool
	// of one that is not used any more: what is in its place. It is read, so that an old file does not keep a node from starting.
	gone string
}

// shape is how a setting is written.
type shape int

const (
	single shape = iota
	several
	pairs // KEY=VALUE
	onOff // mdns: its flag is --no-mdns
)

// chosen is what a setting is and where that comes from.
type chosen struct {
	values []string
	source string
}

func (s *setting) env() string { return "SKEP_" + strings.ToUpper(s.name) }

func (s *setting) flagName() string {
	if s.flag != "" {
		return s.flag
	}
	return strings.ReplaceAll(s.name, "_", "-")
}

// addSettings gives a command the flags of all settings.
func addSettings(fl *pflag.FlagSet) {
	for i := range settings {
		s := &settings[i]
		switch s.shape {
		case single:
			fl.String(s.flagName(), "", s.help())
		case several, pairs:
			fl.StringArray(s.flagName(), nil, s.help())
		case onOff:
			fl.Bool(s.flagName(), false, s.help())
		}
		if s.gone != "" {
			fl.MarkHidden(s.flagName())
		}
	}
}

func (s *setting) help() string {
	if len(s.def) == 0 || s.shape == onOff {
		return s.usage
	}
	return s.usage + " (default " + strings.Join(s.def, ", ") + ")"
}

// choose joins the layers: defaults, the file in the folder, the environment, the command line.
func choose(dir string, fl *pflag.FlagSet) (map[string]chosen, error) {
	m := map[string]chosen{}
	for i := range settings {
		m[settings[i].name] = chosen{settings[i].def, fromDefault}
	}
	if err := readConfig(filepath.Join(dir, configName), m); err != nil {
		return nil, err
	}
	for i := range settings {
		s := &settings[i]
		if v, ok := os.LookupEnv(s.env()); ok {
			m[s.name] = chosen{s.split(v), fromEnv}
		}
		if f := fl.Lookup(s.flagName()); f != nil && f.Changed {
			m[s.name] = chosen{s.flagged(f), fromFlag}
		}
	}
	return m, nil
}

func (s *setting) split(v string) []string {
	if s.shape == single || s.shape == onOff {
		return []string{v}
	}
	var out []string
	for _, p := range strings.Split(v, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func (s *setting) flagged(f *pflag.Flag) []string {
	switch v := f.Value.(type) {
	case pflag.SliceValue:
		return v.GetSlice()
	default:
		if s.shape == onOff { // the flag says no
			if v.String() == "true" {
				return []string{"false"}
			}
			return []string{"true"}
		}
		return []string{v.String()}
	}
}

// readConfig reads the file of settings, where there is one.
func readConfig(name string, m map[string]chosen) error {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return nil
	}
	if err != nil {
		return err
	}
	f := &yamlFile{name: name}
	body, err := f.parse(b)
	if err != nil || body == nil {
		return err
	}
	var known []string
	for i := range settings {
		known = append(known, settings[i].name)
	}
	for _, e := range f.mapping(body, "settings", known...) {
		for i := range settings {
			if s := &settings[i]; s.name == e.key {
				m[s.name] = chosen{s.read(f, e), fromFile}
			}
		}
	}
	return f.err()
}

// read reads a setting's value in the file; pairs may be written as a mapping.
func (s *setting) read(f *yamlFile, e entry) []string {
	if s.shape == pairs && isMapping(e.value) {
		out := []string{}
		for _, p := range f.mapping(e.value, e.key) {
			if t, ok := f.text(p.value, e.key+" "+p.key); ok {
				out = append(out, p.key+"="+t)
			}
		}
		return out
	}
	if s.shape == single || s.shape == onOff {
		if t, ok := f.text(e.value, e.key); ok {
			return []string{t}
		}
		return nil
	}
	return f.texts(e.value, e.key)
}

// settle turns what was chosen into a node's settings and reports everything that is wrong.
func settle(m map[string]chosen) (*nodeSettings, error) {
	n := &nodeSettings{}
	n.Node = node.Defaults()
	n.Node.Speed = 0 // measured by the driver
	var problems []error
	for i := range settings {
		s := &settings[i]
		c := m[s.name]
		if len(c.values) == 0 || len(c.values) == 1 && c.values[0] == "" && c.source != fromFlag {
			continue
		}
		if s.gone != "" {
			n.stale = append(n.stale, fmt.Sprintf("%s (from the %s) is not used any more: %s", s.name, c.source, s.gone))
			continue
		}
		if slices.Contains(c.values, "") { // --join $TOKEN without a token must not found another network
			problems = append(problems, fmt.Errorf("%s is empty (from the %s)", s.flagName(), c.source))
			continue
		}
		n.inConfig = n.inConfig || s.secret && c.source == fromFile
		if err := s.apply(n, c.values); err != nil {
			problems = append(problems, fmt.Errorf("%s %w (from the %s)", s.flagName(), err, c.source))
		}
	}
	return n, errors.Join(problems...)
}

// listed is what was chosen, in the order of the settings. Secrets are left out.
func listed(dir, dirSource string, m map[string]chosen) []v1.Setting {
	out := []v1.Setting{{Name: "data_dir", Value: dir, Source: dirSource}}
	for i := range settings {
		s := &settings[i]
		if s.gone != "" {
			continue
		}
		v := strings.Join(m[s.name].values, ", ")
		if s.secret && v != "" {
			v = "(secret)"
		}
		out = append(out, v1.Setting{Name: s.name, Value: v, Source: m[s.name].source})
	}
	return out
}

// dirSource says where the data folder's name comes from.
func (a *app) dirSource(cmd *cobra.Command) string {
	switch {
	case cmd.Flags().Changed("data-dir"):
		return fromFlag
	case os.Getenv(dataDirEnv) != "":
		return fromEnv
	}
	return fromDefault
}
