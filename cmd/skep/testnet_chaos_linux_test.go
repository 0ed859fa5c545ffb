package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"skep/testnet"
)

// TestChaos is the short form of make chaos: containers where an engine answers, processes elsewhere.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	t.Parallel()
	home, bin := dataFolder(t), buildSkep(t)
	passable(t, home)
	t.Cleanup(func() { removeTestnets(home) })
	args := []string{"testnet", "chaos", "-n", "5", "--duration", "14s", "--every", "2s", "--tasks", "150", "--job", "15",
		"--limit", "40s", "--seed", "5", "--output", "json"}
	if testnet.Engine(context.Background()) != nil || testnet.Imageable() != nil {
		args = append(args, "--processes")
	}
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+home)
	cmd.Stderr = &spool{}
	out, err := cmd.Output()
	var r testnet.Report
	if jerr := json.Unmarshal(out, &r); jerr != nil {
		t.Fatalf("chaos: %v, %v\n%s", err, jerr, cmd.Stderr)
	}
	if r.Lost+r.Twice+r.Unfenced+len(r.Violations)+len(r.Troubles) > 0 || r.Done != 150 || r.Deaths == 0 {
		t.Errorf("chaos: %v\n%s\n%s\nagain: skep %v", err, cmd.Stderr, out, args)
	}
	// Times are checked by make chaos: tests share their machine.
	t.Logf("re-run p95 %.1f s, longest %.1f s; %d attempts begun after a cancellation, the latest %.1f s", r.P95,
		r.Longest, r.AfterCancel, r.LateCancel)
}

// Deaths for good take as long as there are nodes, and come in place of all other faults: who asks for something else
// is told so.
func TestChaosOfDeathsTakesNoDuration(t *testing.T) {
	over, stop := context.WithCancel(t.Context())
	stop() // nothing is to run
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--deaths with --duration", []string{"--duration", "1m"}},
		{"--deaths with --origins", []string{"--origins"}},
		{"takes 1h15m0s: want 1h at most", []string{"-n", "15", "--every", "5m"}},
	} {
		cmd := (&app{out: io.Discard, err: io.Discard}).testnetChaosCmd()
		cmd.SetArgs(append([]string{"--deaths"}, c.args...))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(over); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v: want %s", c.args, err, c.want)
		}
	}
}
