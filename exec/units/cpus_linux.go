//go:build amd64 || arm64

package units

import "golang.org/x/sys/unix"

// maxCPUs is the number after the last processor that is looked at.
const maxCPUs = 1024

// CPUs returns the processors that this process may run on, ascending; nil where tasks cannot be pinned.
func CPUs() (list []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for i := range maxCPUs {
		if set.IsSet(i) {
			list = append(list, i)
		}
	}
	return list
}
