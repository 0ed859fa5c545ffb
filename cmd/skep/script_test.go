package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"skep/grid"
	"skep/testnet"
)

func TestMain(m *testing.M) {
	testscript.Main(levelled{m}, map[string]func(){"skep": func() { os.Exit(skep()) }})
}

// Each script is a session of the command line; those in testdata/script start real nodes.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Condition: condition,
		Setup: func(e *testscript.Env) error {
			if isolation() == grid.IsolationNone && os.Geteuid() == 0 { // or a node makes it accessible to its user only
				if err := os.Mkdir(e.WorkDir+"/data", 0o711); err != nil {
					return err
				}
			}
			if err := os.CopyFS(e.WorkDir+"/examples", os.DirFS("../../examples")); err != nil {
				return err
			}
			passable(t, e.WorkDir)
			e.Setenv("XDG_DATA_HOME", e.WorkDir+"/data")
			e.Setenv("SKEP_DRAIN", "300ms") // many leave tasks running
			if level, ok := os.LookupEnv("SKEP_ISOLATION"); ok {
				e.Setenv("SKEP_ISOLATION", level)
			}
			e.Defer(func() { removeTestnets(e.WorkDir + "/data") })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"ready": ready, "code": code, "token": token,
			"port": port, "cut": cut, "newer": newer, "nodeid": nodeID, "connected": connected, "spoil": spoil,
			"noneidle": noneIdle, "wrong": wrong, "waits": waits, "failed": failed,
			"pythonjob": pythonJob, "exposed": exposed, "printed": hasPrinted, "eventually": eventually, "build": build},
	})
}

// removeTestnets removes the testnets of a failed script: their nodes outlive the command that started them.
func removeTestnets(home string) {
	dirs, _ := filepath.Glob(filepath.Join(home, "skep-testnet", "*"))
	for _, dir := range dirs {
		_ = testnet.Remove(context.Background(), dir, filepath.Base(dir))
	}
}
