//go:build unix && !linux

package testnet

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const pidName = "pid"

// started notes a node's process.
func started(home string, pid int) error {
	return os.WriteFile(filepath.Join(home, pidName), []byte(strconv.Itoa(pid)), 0o600)
}

// children returns the processes of nodes whose folders are in a folder, by the node's folder.
func children(nodes string) (map[string][]child, error) {
	homes, err := os.ReadDir(nodes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found := map[string][]child{}
	for _, h := range homes {
		home := filepath.Join(nodes, h.Name())
		b, err := os.ReadFile(filepath.Join(home, pidName))
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(string(b))
		if err != nil || pid < 2 || syscall.Kill(pid, 0) != nil {
			continue
		}
		// The number may be another's by now: a node has its folder in its command line.
		out, err := exec.Command("ps", "-o", "state=,args=", "-p", strconv.Itoa(pid)).Output()
		if s := strings.TrimSpace(string(out)); err == nil && strings.Contains(s, home) && s[0] != 'Z' {
			found[home] = []child{{pid, s[0] == 'T'}}
		}
	}
	return found, nil
}
