package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A node whose data folder is deleted cannot save records: it says so once, exits with 125, and does not recreate part
// of the folder.
func TestDataFolderLost(t *testing.T) {
	t.Parallel()
	dir, expose := sharedFolder(t)
	m := startMember(t, "skep", "", expose...)
	gate := dir + "/gate"
	m.begin(t, "run", "--", "sh", "-c", "touch '"+dir+"/begun'; while [ ! -e '"+gate+"' ]; do sleep 0.05; done")
	until(t, "it runs", func() bool { return exists(dir + "/begun") })
	if err := os.RemoveAll(m.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- m.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatalf("it goes on:\n%s", m.log)
	}
	said := m.log.String()
	if code := m.cmd.ProcessState.ExitCode(); code != 125 || strings.Count(said, "skep: ") != 1 ||
		!strings.Contains(said, "skep.db is gone") {
		t.Errorf("ended with %d and said\n%s", code, said)
	}
	if exists(m.dir) {
		left, _ := os.ReadDir(m.dir)
		t.Errorf("its folder is there again, with %v", left)
	}
}
