package resources

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"skep/document"
	"skep/grid"
	v1 "skep/node/api/v1"
	"skep/requirement"
)

// Flags are those of run.
type Flags struct {
	units []string
	pin   bool

	where, rank string
}

// Add adds the flags to a verb.
func (f *Flags) Add(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.units, "resource", nil,
		"KIND=N units of a counted resource that a task has for itself, as in gpu=1; again for another kind")
	fs.BoolVar(&f.pin, "pin-cpus", false,
		"run each task on processors of its own, as many as --cpu says, which must be whole")
	fs.StringVar(&f.where, "where", "",
		"expression that must hold of a node, as in 'node.memory > 64 && node.labels.os == \"linux\"'")
	fs.StringVar(&f.rank, "rank", "",
		"expression about nodes, as in node.speed: of those where a task would start at once, the highest one gets it")
}

// Apply adds them to a spec. The error names the flag.
func (f *Flags) Apply(s *v1.Spec) (err error) {
	if s.Needs.Resources, err = Parse(f.units); err != nil {
		return fmt.Errorf("--resource %w", err)
	}
	s.Needs.Pin, s.Needs.Where, s.Rank = f.pin, f.where, f.rank
	_, where := v1.ParseExpression("--where", f.where, requirement.Where)
	_, rank := v1.ParseExpression("--rank", f.rank, requirement.Rank)
	return errors.Join(where, rank)
}

// Parse reads KIND=N of each kind once; nil if there are none.
func Parse(list []string) (map[string]int64, error) {
	var m map[string]int64
	for _, text := range list {
		kind, number, found := strings.Cut(text, "=")
		if _, err := grid.ParseCounts(text); err != nil || !found || strings.Contains(text, ",") {
			if err == nil {
				err = fmt.Errorf("%.80q: want KIND=N, as in gpu=1", text)
			}
			return nil, err
		}
		if _, twice := m[kind]; twice {
			return nil, fmt.Errorf("%s: is given twice", kind)
		}
		if m == nil {
			m = map[string]int64{}
		}
		m[kind], _ = strconv.ParseInt(number, 10, 64)
	}
	if len(m) > grid.MaxKinds {
		return nil, fmt.Errorf("%d kinds: want at most %d", len(m), grid.MaxKinds)
	}
	return m, nil
}

// Keys are those of the key needs of a job file that Read reads.
var Keys = []string{grid.KindGPU, "resources", "pin", "where"}

// Read reads one of Keys.
func Read(f *document.Reader, e document.Entry, n *v1.Needs) {
	unit := func(e document.Entry) {
		f.Number(e, 0, grid.MaxUnits, func(units int64) {
			if _, twice := n.Resources[e.Key]; twice {
				f.At(e.Value, "%s: is in needs and in needs.resources: want one of them", e.Key)
			}
			if n.Resources == nil {
				n.Resources = map[string]int64{}
			}
			n.Resources[e.Key] = units
		})
	}
	switch e.Key {
	case grid.KindGPU:
		unit(e)
	case "resources":
		for _, k := range f.Mapping(e.Value, "resources") {
			if _, err := grid.ParseCounts(k.Key + "=1"); err != nil {
				f.At(k.Value, "resources %v", err)
				continue
			}
			unit(k)
		}
	case "where":
		n.Where = ReadExpression(f, e, requirement.Where)
	case "pin":
		f.Value(e, func(t string) (err error) { n.Pin, err = document.ParseBool(t); return })
	}
}

// ReadExpression reads an expression of a job file.
func ReadExpression(f *document.Reader, e document.Entry, use requirement.Use) (text string) {
	f.Value(e, func(t string) error {
		text = t
		_, err := requirement.Parse(t, use)
		return err
	})
	return text
}

// NeedsText describes what tasks need, each part after a comma; "" = nothing.
func NeedsText(n *v1.Needs) (text string) {
	for _, kind := range slices.Sorted(maps.Keys(n.Resources)) {
		text += fmt.Sprintf(", %d %s", n.Resources[kind], kind)
	}
	if n.Pin {
		text += ", processors of its own"
	}
	if n.Where != "" {
		text += ", where " + n.Where
	}
	return text
}

// FreeText describes the resources of a node, as in "1/2 gpu"; "-" = it has none.
func FreeText(m map[string]v1.Resource) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%d/%d %s", m[kind].Free, m[kind].Total, kind))
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ", ")
}

// Any reports whether one of the nodes has a counted resource.
func Any(nodes []v1.Node) bool {
	return slices.ContainsFunc(nodes, func(n v1.Node) bool { return len(n.Resources) > 0 })
}
