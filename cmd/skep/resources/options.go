package resources

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/goccy/go-yaml/ast"

	"skep/document"
	"skep/grid"
	v1 "skep/node/api/v1"
)

// ReadNeeds reads what a task needs: cpu, memory, labels, and those of Keys that are allowed.
func ReadNeeds(f *document.Reader, n ast.Node, where string, needs *v1.Needs, allowed []string) {
	for _, e := range f.Mapping(n, where, slices.Concat([]string{"cpu", "memory", "labels"}, allowed)...) {
		Read(f, e, needs)
		switch e.Key {
		case "cpu":
			f.Value(e, func(t string) (err error) { needs.Cores, err = document.ParseCores(t); return })
		case "memory":
			f.Value(e, func(t string) (err error) { needs.Memory, err = document.ParseMemory(t); return })
		case "labels":
			needs.Labels = map[string][]string{}
			for _, l := range f.Mapping(e.Value, "labels") {
				needs.Labels[l.Key] = f.Texts(l.Value, "labels "+l.Key)
			}
		}
	}
}

// ReadOptions reads the key options of a job file.
func ReadOptions(f *document.Reader, e document.Entry) (all []v1.Option) {
	list, ok := e.Value.(*ast.SequenceNode)
	if !ok || len(list.Values) == 0 {
		f.At(e.Value, "options: want a list of ways to run, as in [{needs: {cpu: 8}, speedup: 6.5}, {needs: {cpu: 2}}]")
		return nil
	}
	if len(list.Values) > grid.MaxOptions {
		f.At(e.Value, "options: %d: want at most %d", len(list.Values), grid.MaxOptions)
		return nil
	}
	for i, n := range list.Values {
		var o v1.Option
		at := fmt.Sprintf("options[%d]", i)
		for _, k := range f.Mapping(n, at, "needs", "speedup", "value") {
			switch k.Key {
			case "needs":
				ReadNeeds(f, k.Value, at+".needs", &o.Needs, []string{grid.KindGPU, "resources"})
			case "speedup":
				f.Value(k, func(t string) (err error) { o.Speedup, err = positive(t, grid.MaxSpeedup); return })
			case "value":
				f.Value(k, func(t string) (err error) { o.Value, err = positive(t, grid.MaxWorth); return })
			}
		}
		all = append(all, o)
	}
	return all
}

func positive(text string, most float64) (x float64, err error) {
	if x, err = strconv.ParseFloat(text, 64); err != nil || !(x >= 1/most && x <= most) {
		return 0, fmt.Errorf("%.40q: want a number of %g to %g", text, 1/most, most)
	}
	return x, nil
}

// OptionText describes an option of a job.
func OptionText(o *v1.Option) string {
	text := fmt.Sprintf("%g cpu", o.Needs.Cores)
	if o.Needs.Memory > 0 {
		text += ", " + humanize.IBytes(uint64(o.Needs.Memory)) + " memory"
	}
	text += NeedsText(&o.Needs)
	for _, k := range slices.Sorted(maps.Keys(o.Needs.Labels)) {
		text += ", " + k + "=" + strings.Join(o.Needs.Labels[k], "|")
	}
	if o.Speedup != 1 {
		text += fmt.Sprintf(", %g times as fast", o.Speedup)
	}
	if o.Value != 1 {
		text += fmt.Sprintf(", worth %g", o.Value)
	}
	return text
}
