package testnet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// started notes a node's process; the system knows it by its environment.
func started(string, int) error { return nil }

// children returns the processes of nodes whose folders are in a folder, by the node's folder.
func children(nodes string) (map[string][]child, error) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("find the nodes' processes: %w", err)
	}
	found := map[string][]child{}
	mark := []byte(marker + "=" + nodes + "/")
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue // somebody else's, or gone
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if name, ok := bytes.CutPrefix(v, mark); ok && alive(pid) {
				home := filepath.Join(nodes, string(name))
				found[home] = append(found[home], child{pid, stateLetter(pid) == 'T'})
			}
		}
	}
	return found, nil
}

func alive(pid int) bool { s := stateLetter(pid); return s != 0 && s != 'Z' && s != 'X' }

// stateLetter returns what the system says a process is doing; 0 where there is none.
func stateLetter(pid int) byte {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, ok := strings.Cut(string(b[max(0, bytes.LastIndexByte(b, ')')):]), " ")
	if !ok || rest == "" {
		return 0
	}
	return rest[0]
}
