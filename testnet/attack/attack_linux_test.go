package attack

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/testnet/attack/world"
)

// programs builds what is attacked and what attacks.
func programs(t *testing.T) (skep, intruder string) {
	t.Helper()
	dir, err := (&Options{}).folder() // another user of a box must pass through to it
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { removeAll(dir) })
	skep, intruder = filepath.Join(dir, "skep"), filepath.Join(dir, "skep-intruder")
	for path, pkg := range map[string]string{skep: "skep/cmd/skep", intruder: "skep/testnet/attack/intruder"} {
		cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", pkg, err, out)
		}
	}
	return skep, intruder
}

// What docs/trust.md says that a task cannot do is tried on a node as this machine gives it, and on one without boxes.
// It catches a system call that is taken out of the filter, a mount that becomes writable or has too much in it, a
// capability that is kept, a descriptor that is handed on, and a bound that is not watched.
func TestNoAttackSucceeds(t *testing.T) {
	skep, intruder := programs(t)
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(stop)
	for name, isolation := range map[string]string{"as it is": "", "without boxes": "none"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Run(ctx, &Options{Skep: skep, Intruder: intruder, Environment: Here(), Isolation: isolation, Short: true})
			if errors.Is(err, errFolder) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			r.Print(&said, false)
			t.Log(said.String())
			if len(r.Outcomes) < 60 {
				t.Errorf("%d attacks were tried: want at least 60", len(r.Outcomes))
			}
			for _, bad := range r.Failures() {
				t.Error(bad)
			}
		})
	}
}

// A report fails for an attack that succeeded where something is promised, and only there; without boxes for attacks
// that are none.
func TestVerdicts(t *testing.T) {
	succeeded := world.Outcome{Attack: "files/read", State: world.Succeeded}
	many := make([]world.Outcome, leastReal)
	for i := range many {
		many[i] = succeeded
	}
	beyond := succeeded
	beyond.Beyond = true
	for _, c := range []struct {
		name string
		r    Report
		want int
	}{
		{"basic, refused", Report{Level: "basic", Outcomes: []world.Outcome{{State: world.Refused}}}, 0},
		{"basic, succeeded", Report{Level: "basic", Outcomes: []world.Outcome{succeeded}}, 1},
		{"basic, beyond it", Report{Level: "basic", Outcomes: []world.Outcome{beyond}}, 0},
		{"strict, found from outside", Report{Level: "strict", Breaches: []string{"x"}}, 1},
		{"strict, not judged", Report{Level: "strict", Trouble: []string{"x"}}, 1},
		{"none, real", Report{Level: "none", Control: true, Outcomes: many, Breaches: []string{"x"}}, 0},
		{"none, too few", Report{Level: "none", Control: true, Outcomes: many[1:]}, 1},
		{"none, in boxes that are not good enough", Report{Level: "none"}, 0},
	} {
		if bad := c.r.Failures(); len(bad) != c.want {
			t.Errorf("%s: %q: want %d failures", c.name, bad, c.want)
		}
	}
	var said bytes.Buffer
	Summary(&said, []*Report{{Level: "basic", Outcomes: []world.Outcome{succeeded}}, {Level: "none", Outcomes: many}})
	if text := said.String(); !strings.Contains(text, "BROKEN") || !strings.Contains(text, "told") {
		t.Errorf("%s", text)
	}
}
