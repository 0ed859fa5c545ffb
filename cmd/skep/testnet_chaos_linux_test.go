package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
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
