package grid

import (
	"fmt"
	"slices"
)

// Isolation is what a node prevents its tasks from doing. The levels are properties, not mechanisms: each includes the
// one before.
type Isolation uint8

// Levels of isolation. A node claims the level that a probe verified at its start.
const (
	// IsolationNone promises nothing: a task may do what the user may that it runs as.
	IsolationNone Isolation = iota

	// IsolationBasic: a task cannot signal, trace, limit or see a process outside its box; cannot read, write, change
	// modes of or connect to anything outside an explicit list of files; leaves no process, file or IPC object behind;
	// cannot become another user; and is inside stated bounds of memory, processes, disk and inodes.
	IsolationBasic

	// IsolationStrict is IsolationBasic with a network namespace of the task's own, and with the bounds of memory and
	// processes kept by the kernel.
	IsolationStrict

	isolations
)

// IsolationLabel is the label with a node's level; needs ask for it. A node without it counts as none.
const IsolationLabel = "isolation"

// AtLeast are the values of the label that meet a level.
func (i Isolation) AtLeast() []string { return isolationNames[min(i, isolations-1):] }

// Isolation is the least level that the job's needs allow.
func (s *JobSpec) Isolation() Isolation {
	for i := range s.Needs.Labels {
		if l := &s.Needs.Labels[i]; l.Key == IsolationLabel {
			for level := range isolations {
				if slices.Contains(l.Values, level.String()) {
					return level
				}
			}
		}
	}
	return IsolationNone
}

var isolationNames = [...]string{"none", "basic", "strict"}

// String returns the level's name as in job files, flags and JSON.
func (i Isolation) String() string {
	if i < isolations {
		return isolationNames[i]
	}
	return fmt.Sprintf("isolation %d", uint8(i))
}

// ParseIsolation is the inverse of String.
func ParseIsolation(s string) (Isolation, error) {
	for i, name := range isolationNames {
		if s == name {
			return Isolation(i), nil
		}
	}
	return 0, fmt.Errorf("isolation %.32q: want none, basic or strict", s)
}

// Network is a task's access to the network.
type Network uint8

// What a task may reach.
const (
	NetworkHost Network = iota // whatever the node's machine reaches, including its own services on loopback
	NetworkNone                // nothing but itself
	NetworkGang                // the other ranks of its gang, each at an address of its own, and nothing else
	networks
)

var networkNames = [...]string{"host", "none", "gang"}

// String returns the name as in job files, flags and JSON.
func (n Network) String() string {
	if n < networks {
		return networkNames[n]
	}
	return fmt.Sprintf("network %d", uint8(n))
}

// ParseNetwork is the inverse of String.
func ParseNetwork(s string) (Network, error) {
	for i, name := range networkNames {
		if s == name {
			return Network(i), nil
		}
	}
	return 0, fmt.Errorf("network %.32q: want host, none or gang", s)
}
