package machine

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"skep/exec/process"
	"skep/grid"
)

// fixedLabels are properties of the machine, which the operator cannot override.
var fixedLabels = []string{"os", "arch", grid.IsolationLabel}

// Labels returns a node's labels, ordered by key: those of the machine, of the version of this build, of the isolation
// of its tasks and of whether it can pin them, further ones, and the operator's. Of the first an operator can set the
// host's name. Needs name keys as they are written, so two keys that differ only by case would be one mistaken for the
// other.
func Labels(version string, level grid.Isolation, pins bool, further, own []grid.Label) ([]grid.Label, error) {
	labels := append(known(version), grid.Label{Key: grid.IsolationLabel, Value: level.String()})
	labels = append(labels, further...)
	if pins {
		labels = append(labels, grid.Label{Key: grid.PinLabel, Value: grid.FeatureValue})
	}
	labels = append(labels, slices.DeleteFunc(grid.FeatureLabels(), func(l grid.Label) bool {
		batch := slices.ContainsFunc(further, func(f grid.Label) bool { return f.Key == grid.DurableLabel })
		switch l.Key { // a batch job has neither a terminal nor an input, and not the machine's units
		case grid.TerminalLabel:
			return batch || !process.Terminals
		case grid.StdinLabel, grid.ResourceLabel, grid.GangSizeLabel:
			return batch
		}
		return false
	})...)
	for _, l := range own {
		if l.Key == "" || len(l.Key) > grid.MaxLabel || len(l.Value) > grid.MaxLabel || strings.ContainsAny(l.Key, "=, ") ||
			!grid.Printable(l.Key+l.Value) {
			return nil,
				fmt.Errorf("label %q=%q: want a key without '=', ',' and spaces, and at most %d bytes of printable text each",
					l.Key, l.Value, grid.MaxLabel)
		}
		if grid.IsFolderLabel(l.Key) || grid.IsFolderNeed(l.Key) {
			return nil, fmt.Errorf("label %s=%s: folders are labels of a node that exposes them: want --expose, or another key",
				l.Key, l.Value)
		}
		i := slices.IndexFunc(labels, func(o grid.Label) bool { return strings.EqualFold(o.Key, l.Key) })
		switch {
		case i < 0 && strings.EqualFold(l.Key, grid.DurableLabel):
			return nil, fmt.Errorf("label %s=%s: %s says that another system runs the tasks: want --engine, or another key",
				l.Key, l.Value, grid.DurableLabel)
		case i < 0:
			labels = append(labels, l)
		case grid.IsFeatureLabel(labels[i].Key):
			return nil, fmt.Errorf("label %s=%s: %s is a name of skep's own, which says what this version can do: want another "+
				"key", l.Key, l.Value, labels[i].Key)
		case slices.Contains(fixedLabels, labels[i].Key):
			return nil, fmt.Errorf("label %s=%s: %s is what the machine is (%s) and cannot be set: want another key",
				l.Key, l.Value, labels[i].Key, labels[i].Value)
		case labels[i].Key != l.Key:
			return nil, fmt.Errorf("label %s=%s: differs from label %s=%s only by case: want one of both, or another key",
				l.Key, l.Value, labels[i].Key, labels[i].Value)
		default:
			labels[i] = l
		}
	}
	if len(labels) > grid.MaxLabels {
		return nil, fmt.Errorf("%d labels: want at most %d", len(labels), grid.MaxLabels)
	}
	slices.SortFunc(labels, func(a, b grid.Label) int { return strings.Compare(a.Key, b.Key) })
	return labels, nil
}

// known returns the labels of the machine and of the version, in no order.
func known(version string) []grid.Label {
	labels := []grid.Label{{Key: "os", Value: runtime.GOOS}, {Key: "arch", Value: runtime.GOARCH}}
	if host, err := os.Hostname(); err == nil && host != "" {
		labels = append(labels, grid.Label{Key: "hostname", Value: host[:min(len(host), grid.MaxLabel)]})
	}
	if version != "" {
		labels = append(labels, grid.Label{Key: "skep.version", Value: version[:min(len(version), grid.MaxLabel)]})
	}
	return labels
}
