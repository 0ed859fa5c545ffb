package machine

import (
	"runtime"
	"strings"
	"testing"

	"skep/grid"
)

func TestLabels(t *testing.T) {
	exposed, _ := grid.ExposedLabel("/data", true)
	got, err := Labels("1.2", grid.IsolationBasic, false, []grid.Label{exposed},
		[]grid.Label{{Key: "zone", Value: "a"}, {Key: "hostname", Value: "mine"}, {Key: "zone", Value: "b"},
			{Key: "stdin", Value: "x"}}) // a key that operators may have used
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, l := range got {
		text = append(text, l.Key+"="+l.Value)
	}
	want := "arch=" + runtime.GOARCH + " hostname=mine isolation=basic os=" + runtime.GOOS +
		" skep.arrays=1 skep.gang_size=1 skep.job_inputs=1 skep.options=1 skep.outer=1 skep.requirements=1 skep.resources=1" +
		" skep.rw:/data=1 skep.signed=1 skep.stdin=1 skep.terminal=1 skep.version=1.2 stdin=x zone=b"
	if strings.Join(text, " ") != want {
		t.Errorf("%q, want %q", text, want)
	}
}

func TestLabelsRejects(t *testing.T) {
	for _, c := range []struct {
		own  string
		want string
	}{
		{"os=x", "label os=x: os is what the machine is (" + runtime.GOOS + ") and cannot be set: want another key"},
		{"OS=x", "label OS=x: os is what the machine is (" + runtime.GOOS + ") and cannot be set: want another key"},
		{"skep.stdin=2", "skep.stdin is a name of skep's own, which says what this version can do: want another key"},
		{"Skep.arrays=2", "label Skep.arrays=2: skep.arrays is a name of skep's own"},
		{"Isolation=strict", "isolation is what the machine is (none)"},
		{"Hostname=x", "only by case: want one of both, or another key"},
		{"skep.rw:/=1", "folders are labels of a node that exposes them: want --expose"},
		{"skep.workdir=/x", "folders are labels of a node that exposes them: want --expose"},
		{"zone=a,Zone=b", "label Zone=b: differs from label zone=a only by case: want one of both, or another key"},
		{"a b=c", "want a key without"},
		{"=c", "want a key without"},
	} {
		var own []grid.Label
		for _, l := range strings.Split(c.own, ",") {
			k, v, _ := strings.Cut(l, "=")
			own = append(own, grid.Label{Key: k, Value: v})
		}
		if _, err := Labels("", grid.IsolationNone, false, nil, own); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.own, err, c.want)
		}
	}
}

func TestCapacity(t *testing.T) {
	r, err := Capacity(grid.Resources{CPU: 1500})
	if err != nil || r.CPU != 1500 || r.Memory < 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Capacity(grid.Resources{CPU: -1, Memory: grid.GiB}); err == nil ||
		!strings.Contains(err.Error(), "cpus -0.001: want more than 0") {
		t.Error(err)
	}
}

// A node whose tasks run as batch jobs does not have the labels of what these do without.
func TestLabelsOfACluster(t *testing.T) {
	durable := grid.Label{Key: grid.DurableLabel, Value: grid.FeatureValue}
	got, err := Labels("", grid.IsolationNone, false, []grid.Label{durable}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range got {
		switch l.Key {
		case grid.StdinLabel, grid.TerminalLabel, grid.ResourceLabel, grid.GangSizeLabel, grid.PinLabel:
			t.Errorf("it has %s", l.Key)
		}
	}
	if _, err := Labels("", grid.IsolationNone, false, nil, []grid.Label{durable}); err == nil {
		t.Error("an operator can say that tasks outlive the node")
	}
}
