package paper

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"skep/sim/brokers"
	"skep/sim/federation"
	"skep/sim/gangs"
	"skep/sim/marketplace"
	"skep/sim/queueing"
	"skep/sim/reallocation"
	"skep/sim/recovery"
	"skep/sim/spread"
)

//go:embed */study.yaml */*.csv */systems/*.yaml
var folders embed.FS

// Study is one folder.
type Study struct {
	Name   string `yaml:"-"`
	Title  string `yaml:"title"`
	Source string `yaml:"source"`

	// World is what the systems are of: "" = queueing systems, brokers = grids of clusters with brokers,
	// forwarding = nodes that only search, spread = overlays on which news spreads, bags = tasks of one node that it
	// places on others, gangs = programs whose ranks run together, market = servers that are bid for,
	// reallocation = clusters whose tasks are suspended and placed anew, recovery = clusters on which runs fail,
	// federation = clusters with users of their own that a broker hands tasks over to.
	World string `yaml:"world"`

	walks   *walks
	numbers []printed
	runs    []run
	curves  []curve
	drawn   []picture // in the place of curves
	systems map[string]*queueing.System
	grids   map[string]*brokers.System

	settings map[string]*setting
	bags     map[string]*bag
	markets  map[string]*marketplace.System
	gangs    map[string]*gangs.Setting

	reallocations map[string]*reallocation.System
	recoveries    map[string]*recovery.System
	federations   map[string]*federation.System
}

// Names lists the studies, in order.
func Names() []string {
	var out []string
	files, err := fs.Glob(folders, "*/study.yaml")
	if err != nil {
		panic("paper: the pattern of the studies: " + err.Error())
	}
	for _, f := range files {
		out = append(out, path.Dir(f))
	}
	slices.Sort(out)
	return out
}

// Load reads a study. The error of a name that there is not lists those that there are; any other is a
// mistake in the folder, which the tests find.
func Load(name string) (*Study, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("study %.80q: is not known: want one of %s", name, strings.Join(Names(), ", "))
	}
	return load(folders, name)
}

func load(from fs.FS, name string) (*Study, error) {
	s := &Study{Name: name, systems: map[string]*queueing.System{}, grids: map[string]*brokers.System{},
		settings: map[string]*setting{}, bags: map[string]*bag{}, gangs: map[string]*gangs.Setting{},
		markets: map[string]*marketplace.System{}, reallocations: map[string]*reallocation.System{},
		recoveries: map[string]*recovery.System{}, federations: map[string]*federation.System{}}
	b, err := fs.ReadFile(from, path.Join(name, "study.yaml"))
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalWithOptions(b, s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s/study.yaml: %w", name, err)
	}
	if s.World == "forwarding" {
		s.walks, err = loadWalks(from, name)
		return s, err
	}
	files, err := fs.Glob(from, path.Join(name, "systems", "*.yaml"))
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, f := range files {
		b, err := fs.ReadFile(from, f)
		if err != nil {
			return nil, err
		}
		errs = append(errs, s.read(f, b))
	}
	if err := errors.Join(append(errs, s.tables(from))...); err != nil {
		return nil, err
	}
	return s, s.check()
}

// read reads a system of the study's world.
func (s *Study) read(file string, b []byte) (err error) {
	name := strings.TrimSuffix(path.Base(file), ".yaml")
	switch s.World {
	case "":
		s.systems[name], err = queueing.Read(file, b)
	case "brokers":
		s.grids[name], err = brokers.Read(file, b)
	case "spread":
		s.settings[name], err = readSetting(file, b)
	case "bags":
		s.bags[name], err = readBag(file, b)
	case "market":
		s.markets[name], err = marketplace.Read(file, b)
	case "gangs":
		s.gangs[name], err = readGangs(file, b)
	case "reallocation":
		s.reallocations[name], err = reallocation.Read(file, b)
	case "recovery":
		s.recoveries[name], err = recovery.Read(file, b)
	case "federation":
		s.federations[name], err = federation.Read(file, b)
	default:
		err = fmt.Errorf("%s/study.yaml: world %q: want bags, brokers, federation, forwarding, gangs, market, reallocation, "+
			"recovery, spread, or none for queueing systems", s.Name, s.World)
	}
	return err
}

// pictured are the worlds whose curves are drawn of the runs.
var pictured = []string{"spread", "bags", "gangs", "market", "reallocation", "recovery", "federation"}

// tables reads the three CSV files.
func (s *Study) tables(from fs.FS) error {
	return errors.Join(
		table(from, path.Join(s.Name, "numbers.csv"), func(r record) error {
			p, err := r.printed()
			s.numbers = append(s.numbers, p)
			return err
		}),
		table(from, path.Join(s.Name, "runs.csv"), func(r record) error {
			x, err := r.run()
			s.runs = append(s.runs, x.each(r["rates"])...)
			return err
		}),
		table(from, path.Join(s.Name, "curves.csv"), func(r record) error {
			if slices.Contains(pictured, s.World) {
				x, err := r.picture()
				s.drawn = append(s.drawn, x)
				return err
			}
			x, err := r.curve()
			s.curves = append(s.curves, x)
			return err
		}))
}

// check reports what is named and is not there: systems, and numbers that no run would give.
func (s *Study) check() error {
	var errs []error
	system := func(where, name string) {
		grid, rate, ok := strings.Cut(name, "@")
		if ok && (s.grids[grid] != nil || s.settings[grid] != nil || s.gangs[grid] != nil || s.markets[grid] != nil ||
			s.reallocations[grid] != nil || s.recoveries[grid] != nil || s.federations[grid] != nil) {
			if _, err := strconv.ParseFloat(rate, 64); err == nil {
				return
			}
		}
		if s.systems[name] == nil && s.bags[name] == nil && s.gangs[name] == nil {
			errs = append(errs, fmt.Errorf("%s/%s: no system %q: want a file systems/%s.yaml", s.Name, where, name, name))
		}
	}
	ran := map[key]bool{}
	for _, r := range s.runs {
		system("runs.csv", r.scenario)
		for _, p := range r.policies {
			if ran[key{r.scenario, p}] {
				errs = append(errs, fmt.Errorf("%s/runs.csv: %s under %s stands twice", s.Name, r.scenario, p))
			}
			ran[key{r.scenario, p}] = true
		}
	}
	for _, c := range s.curves {
		if s.grids[c.scenario] == nil {
			system("curves.csv", c.scenario)
		}
	}
	for k := range s.drawn {
		if _, points := s.drawn[k].plans(nodesOf, spread.Farthest); !slices.ContainsFunc(slices.Concat(points...),
			func(x plan) bool { return ran[x.key] }) {
			errs = append(errs, fmt.Errorf("%s/curves.csv: %s has no point that is run: want it in runs.csv", s.Name,
				s.drawn[k].name))
		}
	}
	for _, p := range s.numbers {
		if by := p.label.by; by != "" && !slices.ContainsFunc(s.numbers, func(o printed) bool {
			return explains(by, o.Metric, o.Scenario, o.Policy, o.show(), p.Metric)
		}) {
			errs = append(errs, fmt.Errorf(
				"%s/numbers.csv: %s of %s: no line %q of this metric: want scenario and policy, or order", s.Name, p.Metric,
				p.Scenario, by))
		}
		if p.kind() == "allot" && s.grids[p.Scenario] != nil { // it takes no run
			continue
		}
		for _, k := range p.keys() {
			system("numbers.csv", k.scenario)
			if k.policy != "" && !ran[k] {
				errs = append(errs, fmt.Errorf("%s/numbers.csv: %s of %s needs a run under %s: want it in runs.csv", s.Name,
					p.Metric, k.scenario, k.policy))
			}
		}
	}
	return errors.Join(errs...)
}

// key is a system under a policy.
type key struct{ scenario, policy string }

// Numbers is how many printed numbers are compared.
func (s *Study) Numbers() int {
	if s.walks != nil {
		return len(s.walks.claims)
	}
	return len(s.numbers)
}
