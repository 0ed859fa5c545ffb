package units

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"skep/grid"
)

// Find returns the GPUs of the machine whose files are below root, "/" but in tests: those of NVIDIA, else those of
// AMD. It is one kind with at most grid.MaxUnits units, or none.
func Find(root string) []Kind {
	for _, find := range []func(root string) Kind{nvidia, amd} {
		if k := find(root); len(k.Units) > 0 {
			k.Units = k.Units[:min(len(k.Units), grid.MaxUnits)]
			return []Kind{k}
		}
	}
	return nil
}

// nvidia finds GPUs by their device files, /dev/nvidia0 and so on; the driver tells the UUID of each [1].
func nvidia(root string) Kind {
	k := Kind{Name: grid.KindGPU, Vendor: Nvidia}
	uuids := map[string]string{} // by number of the device file
	infos, _ := filepath.Glob(filepath.Join(root, "proc/driver/nvidia/gpus/*/information"))
	for _, path := range infos {
		text, _ := os.ReadFile(path)
		uuid, minor := "", ""
		for line := range strings.Lines(string(text)) {
			switch name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) {
			case "GPU UUID":
				uuid = strings.TrimSpace(value)
			case "Device Minor":
				minor = strings.TrimSpace(value)
			}
		}
		if strings.HasPrefix(uuid, "GPU-") && !strings.Contains(uuid, "?") && grid.Printable(uuid) {
			uuids[minor] = uuid
		}
	}
	for _, n := range numbered(root, "dev/nvidia") {
		number := strconv.Itoa(n)
		k.Units = append(k.Units, Unit{Files: []string{filepath.Join(root, "dev/nvidia"+number)}, UUID: uuids[number]})
	}
	if len(k.Units) > 0 {
		k.Shared = present(root, "dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia-uvm-tools", "dev/nvidia-modeset")
	}
	return k
}

// amd finds GPUs by their render nodes, which are used through /dev/kfd [3].
func amd(root string) Kind {
	k := Kind{Name: grid.KindGPU, Vendor: AMD}
	if k.Shared = present(root, "dev/kfd"); k.Shared == nil {
		return k
	}
	for _, n := range numbered(root, "dev/dri/renderD") {
		k.Units = append(k.Units, Unit{Files: []string{filepath.Join(root, "dev/dri/renderD"+strconv.Itoa(n))}})
	}
	k.Reads = present(root, "sys/class/kfd", "sys/devices/virtual/kfd")
	return k
}

// numbered returns the numbers that follow a prefix in the names of files, ascending.
func numbered(root, prefix string) (numbers []int) {
	paths, _ := filepath.Glob(filepath.Join(root, prefix) + "[0-9]*")
	for _, path := range paths {
		if n, err := strconv.Atoi(strings.TrimPrefix(path, filepath.Join(root, prefix))); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// present returns those of the files that are there.
func present(root string, names ...string) (paths []string) {
	for _, name := range names {
		path := filepath.Join(root, name)
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}
