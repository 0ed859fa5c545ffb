package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"skep/balance/market/advice"
	"skep/exec/sandbox"
	"skep/grid"
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

// In the config file an exposed folder may be a mapping, which says the same as the text of a flag.
func TestExposedFoldersInTheConfigFile(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, configName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("expose:\n- /data\n- {dir: /scratch, mode: rw, as: ada, for: [ada, bob]}\n- {dir: /x}\n")
	m := map[string]settingValue{}
	if err := readConfig(filepath.Join(dir, configName), m); err != nil {
		t.Fatal(err)
	}
	want := []string{"/data", "/scratch:rw:as=ada:for=ada:for=bob", "/x"}
	if got := m["expose"].values; !slices.Equal(got, want) {
		t.Errorf("%q: want %q", got, want)
	}
	for text, want := range map[string]string{
		"expose:\n- {mode: rw}\n":          ":2:3: expose: want dir, the folder",
		"expose:\n- {dir: /x, owner: y}\n": "owner",
		"expose: {dir: /x}\n":              "expose",
	} {
		write(text)
		if err := readConfig(filepath.Join(dir, configName), m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"/x:for=ada":              "want both the user that tasks run as and the submitters",
		"/x:as=nobody":            "want both the user that tasks run as and the submitters",
		"/x:rw:as=root:for=ada":   "neither may be root's",
		"/x:as=0/7:for=a":         "neither may be root's",
		"/x:as=7/x:for=a":         "want a user and a group",
		"/x:as=no one:for=a":      "/etc/passwd has no user no one",
		"/x:as=nobody:for=@y":     "want NAME or NAME@NODE",
		"/x:as=nobody:for=a@y":    "for=a@y",
		"/x:rx":                   `"rx": want once ro or rw`,
		"/x:rw:ro":                `"ro": want once ro or rw`,
		"/x:as=nobody:as=b:for=*": `"as=b": want once ro or rw, once as=USER`,
	} {
		e, err := sandbox.ParseExpose(text)
		if err == nil {
			_, err = e.Grant.IDs()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %q", text, err, want)
		}
	}
}

// What skep advise says to write into config.yaml is accepted there, and by a node.
func TestAdvisedSettings(t *testing.T) {
	for _, protocol := range []string{"cda", "cda_res", "cda_tdb", "pda", "rr", "fifo", "sjf", "psp", "hbp", "hbp_res",
		"hbp_t", "pe_p", "pe_a", "pe_t"} {
		lines := advice.Settings(protocol)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, configName), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		fl := pflag.NewFlagSet("up", pflag.ContinueOnError)
		addSettings(fl)
		m, err := loadSettings(dir, fl)
		if err != nil {
			t.Fatalf("%s: %v", protocol, err)
		}
		n, err := applySettings(m)
		if err != nil {
			t.Fatalf("%s: %v", protocol, err)
		}
		n.Node.Self, n.Node.Name, n.Node.Speed = grid.NodeID{1}, "alpha", 1
		n.Node.Capacity = grid.Resources{CPU: grid.CPU, Memory: grid.GiB}
		if _, err := node.New(n.Node, grid.Wall{Zero: time.Now()}); err != nil {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}

// Settings for tasks in Slurm need the engine, wherever each comes from.
func TestEngineSettings(t *testing.T) {
	for _, c := range [...]struct{ file, want string }{
		{"engine: slurm\npartition: work\nslurm_option: [qos=low, exclusive]\nslurm_dir: /shared\nslurm_account: lab", ""},
		{"partition: work\nengine: slurm", ""},
		{"engine: process", ""},
		{"partition: work", "partition is for tasks in Slurm: want --engine slurm with it (from the file)"},
		{"engine: process\nslurm_dir: /x", "slurm-dir is for tasks in Slurm"},
		{"engine: other", `engine "other": want process, slurm or skep`},
		{"grid: x\nengine: slurm", "grid is for tasks in another grid: want --engine skep with it"},
		{"engine: skep\ngrid: /none", "/none: is not there: want a file with what skep node token --api prints"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, configName), []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		fl := pflag.NewFlagSet("up", pflag.ContinueOnError)
		addSettings(fl)
		m, err := loadSettings(dir, fl)
		if err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		n, err := applySettings(m)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v: want %q", c.file, err, c.want)
		}
		s := n.Boxes.Engine.Slurm
		if strings.HasPrefix(c.file, "engine: slurm") && (s.Partition != "work" || s.Account != "lab" ||
			s.Dir != "/shared" || len(s.Extra) != 2) {
			t.Errorf("%s: %+v", c.file, s)
		}
	}
}
