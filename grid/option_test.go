package grid

import (
	"strings"
	"testing"
)

func optional(options ...Option) *JobSpec {
	s := &JobSpec{Engine: EngineProcess, Command: []string{"a"}, Count: 1,
		Needs: Needs{Resources: Resources{CPU: CPU}, Labels: []LabelNeed{{Key: "os", Values: []string{"linux"}}}}}
	s.Needs.SetOptions(options)
	return s
}

// The needs of a job with options are what all of them need; those of an attempt are what its option needs.
func TestNeedsOfOptions(t *testing.T) {
	s := optional(
		Option{Resources: Resources{CPU: 8 * CPU, Memory: GiB, Counts: "fpga=1,gpu=2"}, Speedup: 6.5, Value: 1},
		Option{Resources: Resources{CPU: 2 * CPU, Memory: 4 * GiB, Counts: "gpu=1"}, Speedup: 1, Value: 3,
			Labels: []LabelNeed{{Key: "arch", Values: []string{"amd64"}}}})
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if want := (Resources{CPU: 2 * CPU, Memory: GiB, Counts: "gpu=1"}); s.Needs.Resources != want {
		t.Errorf("all need %v, want %v", s.Needs.Resources, want)
	}
	two := s.AsOption(2)
	if two.Needs.Resources != s.Needs.Options[1].Resources || two.Speedup() != 1 || s.AsOption(1).Speedup() != 6.5 ||
		s.Speedup() != 1 || two.AsOption(2) != two {
		t.Errorf("as the second option: %+v", two.Needs)
	}
	keys := ""
	for _, l := range two.Needs.Labels {
		keys += l.Key + " "
	}
	if keys != "arch os skep.options skep.resources " || len(s.Needs.Labels) != 3 {
		t.Errorf("it needs the labels %s", keys)
	}
	if !s.MemberFeatures().Has(FeatureOptions) {
		t.Error("nodes that do not know options may keep its register")
	}
	for number, valid := range map[uint8]bool{0: false, 1: true, 2: true, 3: false} {
		if s.ValidOption(number) != valid || optional().ValidOption(number) == (number > 0) {
			t.Errorf("option %d: valid %v", number, s.ValidOption(number))
		}
	}
}

// What is wrong with an option is said with its field and its value.
func TestOptionsAreChecked(t *testing.T) {
	good := Option{Resources: Resources{CPU: CPU}, Speedup: 1, Value: 1}
	for _, c := range []struct {
		want   string
		change func(s *JobSpec, o *Option)
	}{
		{"options[0].speedup 0: want 0.001 to 1000", func(_ *JobSpec, o *Option) { o.Speedup = 0 }},
		{"options[0].speedup 1001", func(_ *JobSpec, o *Option) { o.Speedup = 1001 }},
		{"options[0].value -1: want 1e-06 to 1e+06", func(_ *JobSpec, o *Option) { o.Value = -1 }},
		{"options[0].needs.cpu 0", func(_ *JobSpec, o *Option) { o.CPU = 0 }},
		{"options[0].needs.pin with needs.cpu 0.5", func(s *JobSpec, o *Option) {
			s.Needs.Pin, o.CPU = true, CPU/2
			s.Needs.AddFeature(PinLabel)
		}},
		{"options[0].needs.labels.os: the job's needs say it too", func(_ *JobSpec, o *Option) {
			o.Labels = []LabelNeed{{Key: "os", Values: []string{"linux"}}}
		}},
		{"options[0].needs.labels: 5: want at most 4", func(_ *JobSpec, o *Option) {
			for _, k := range []string{"a", "b", "c", "d", "e"} {
				o.Labels = append(o.Labels, LabelNeed{Key: k, Values: []string{"v"}})
			}
		}},
		{"options[0].needs.resources: 98 bytes", func(_ *JobSpec, o *Option) {
			o.Counts = Counts(strings.Repeat("a", 30) + "=1," + strings.Repeat("b", 30) + "=1," + strings.Repeat("c", 30) + "=1")
		}},
		{"options: 9: want at most 8", func(s *JobSpec, o *Option) {
			s.Needs.Options = []Option{*o, *o, *o, *o, *o, *o, *o, *o, *o}
		}},
		{"options: want needs.labels.skep.options 1 with them", func(s *JobSpec, _ *Option) { s.Needs.Labels = nil }},
		{"want what all options need", func(s *JobSpec, _ *Option) { s.Needs.CPU = 5 }},
		{"options with gang", func(s *JobSpec, _ *Option) { s.Gang.Ranks = 1 }},
	} {
		s := optional(good)
		o := &s.Needs.Options[0]
		c.change(s, o)
		if len(s.Needs.Options) == 1 && s.Needs.CPU != 5 {
			s.Needs.Resources = o.Resources
		}
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}
