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

	"skep/document"
	"skep/node"
	"skep/node/api/v1"
)

// configName is the config file in a data folder.
const configName = "config.yaml"

// Sources of a setting; each overrides those before it.
const (
	fromDefault = "default"
	fromFile    = "file"
	fromEnv     = "environment"
	fromFlag    = "flag"
)

// setting is one setting of a node: in the config file by its name, in the environment as SKEP_NAME, on the command
// line as --name with hyphens.
type setting struct {
	name  string
	usage string
	def   []string
	shape shape
	apply func(n *nodeSettings, values []string) error
	// reads the setting in the config file; nil = as its shape says
	inFile func(f *document.Reader, e document.Entry) []string
	// of the flag only
	flag     string
	secret   bool
	obsolete bool // see obsoleteSettings
}

// shape is the syntax of a setting.
type shape int

const (
	single shape = iota
	several
	pairs // KEY=VALUE
	onOff // mdns: its flag is --no-mdns
)

// settingValue is the value of a setting and its source.
type settingValue struct {
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

// addSettings adds the flags of all settings to a command.
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
		if s.obsolete {
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

// loadSettings merges the sources: defaults, the config file, the environment, the command line.
func loadSettings(dir string, fl *pflag.FlagSet) (map[string]settingValue, error) {
	m := map[string]settingValue{}
	for i := range settings {
		m[settings[i].name] = settingValue{settings[i].def, fromDefault}
	}
	if err := readConfig(filepath.Join(dir, configName), m); err != nil {
		return nil, err
	}
	for i := range settings {
		s := &settings[i]
		if v, ok := os.LookupEnv(s.env()); ok {
			m[s.name] = settingValue{s.split(v), fromEnv}
		}
		if f := fl.Lookup(s.flagName()); f != nil && f.Changed {
			m[s.name] = settingValue{s.flagged(f), fromFlag}
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
		if s.shape == onOff { // the flag negates
			if v.String() == "true" {
				return []string{"false"}
			}
			return []string{"true"}
		}
		return []string{v.String()}
	}
}

// readConfig reads the config file, if there is one.
func readConfig(name string, m map[string]settingValue) error {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return nil
	}
	if err != nil {
		return err
	}
	f := &document.Reader{Name: name}
	body, err := f.Parse(b)
	if err != nil || body == nil {
		return err
	}
	known, obsolete := settingNames()
	for _, e := range f.MappingBeside(body, "settings", obsolete, known...) {
		for i := range settings {
			if s := &settings[i]; s.name == e.Key {
				m[s.name] = settingValue{s.read(f, e), fromFile}
			}
		}
	}
	return f.Err()
}

// read parses a setting's value in the file; pairs may be a mapping.
func (s *setting) read(f *document.Reader, e document.Entry) []string {
	if s.obsolete {
		return []string{"…"} // whatever it is
	}
	if s.inFile != nil {
		return s.inFile(f, e)
	}
	if s.shape == pairs && isMapping(e.Value) {
		out := []string{}
		for _, p := range f.Mapping(e.Value, e.Key) {
			if slices.Contains(obsoleteKnobs[s.name], p.Key) {
				out = append(out, p.Key+"=…")
			} else if t, ok := f.Text(p.Value, e.Key+" "+p.Key); ok {
				out = append(out, p.Key+"="+t)
			}
		}
		return out
	}
	if s.shape == single || s.shape == onOff {
		if t, ok := f.Text(e.Value, e.Key); ok {
			return []string{t}
		}
		return nil
	}
	return f.Texts(e.Value, e.Key)
}

// applySettings turns setting values into a node's settings and reports all problems. It removes obsolete ones from m.
func applySettings(m map[string]settingValue) (*nodeSettings, error) {
	n := &nodeSettings{obsolete: dropObsolete(m)}
	n.Node = node.Defaults()
	n.Node.Speed = 0 // measured by the driver
	var problems []error
	for i := range settings {
		s := &settings[i]
		c := m[s.name]
		if len(c.values) == 0 || len(c.values) == 1 && c.values[0] == "" && c.source != fromFlag {
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

// listSettings returns the setting values in the order of settings. Secrets are left out.
func listSettings(dir, dirSource string, m map[string]settingValue) []v1.Setting {
	out := []v1.Setting{{Name: "data_dir", Value: dir, Source: dirSource}}
	for i := range settings {
		s := &settings[i]
		if s.obsolete {
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

// dirSource returns the source of the data folder's name.
func (a *app) dirSource(cmd *cobra.Command) string {
	switch {
	case cmd.Flags().Changed("data-dir"):
		return fromFlag
	case os.Getenv(dataDirEnv) != "":
		return fromEnv
	}
	return fromDefault
}
