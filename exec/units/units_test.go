package units

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"skep/grid"
)

// machine makes a folder with files of a machine; a name with "=" has the content behind it.
func machine(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func nvidiaInfo(minor, uuid string) string {
	return fmt.Sprintf("proc/driver/nvidia/gpus/0000:0%s:00.0/information="+
		"Model: \t X\nGPU UUID: \t %s\nDevice Minor: \t %s\n", minor, uuid, minor)
}

// env is what a grant tells of GPUs, without their order.
func env(g *Grant, boxed bool) string {
	list := slices.DeleteFunc(g.Env(boxed), func(e string) bool { return strings.HasPrefix(e, "CUDA_DEVICE_ORDER=") })
	return strings.NewReplacer("_VISIBLE_DEVICES", "", "SKEP_RESOURCE_", "").Replace(strings.Join(list, " "))
}

func TestGPUsAreFound(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  []string
		units  int
		shared string
		env    string // of the second unit in a box, and below without one
		bare   string
	}{
		{"none", []string{"dev/null", "dev/dri/renderD128"}, 0, "", "", ""},
		{"nvidia", []string{"dev/nvidia0", "dev/nvidia1", "dev/nvidiactl", "dev/nvidia-uvm", nvidiaInfo("0", "GPU-aa"),
			nvidiaInfo("1", "GPU-bb")}, 2, "nvidiactl nvidia-uvm",
			"GPU=1 CUDA=GPU-bb NVIDIA=GPU-bb ROCR=0 HIP=0", "GPU=1 CUDA=GPU-bb NVIDIA=GPU-bb ROCR=1 HIP=0"},
		{"without UUIDs", []string{"dev/nvidia0", "dev/nvidia1", "dev/nvidia10", nvidiaInfo("1", "GPU-??-??")}, 3, "",
			"GPU=1 CUDA=0 NVIDIA=1 ROCR=0 HIP=0", "GPU=1 CUDA=1 NVIDIA=1 ROCR=1 HIP=0"},
		{"amd", []string{"dev/kfd", "dev/dri/renderD128", "dev/dri/renderD129", "dev/dri/card0"}, 2, "kfd",
			"GPU=1 CUDA=0 NVIDIA=1 ROCR=0 HIP=0", "GPU=1 CUDA=0 NVIDIA=1 ROCR=1 HIP=0"},
	} {
		root := machine(t, c.files...)
		found := Find(root)
		if c.units == 0 {
			if found != nil {
				t.Errorf("%s: found %+v", c.name, found)
			}
			continue
		}
		if len(found) != 1 || len(found[0].Units) != c.units || found[0].Name != grid.KindGPU {
			t.Fatalf("%s: found %+v, want %d GPUs", c.name, found, c.units)
		}
		var shared []string
		for _, path := range found[0].Shared {
			shared = append(shared, filepath.Base(path))
		}
		if got := strings.Join(shared, " "); got != c.shared {
			t.Errorf("%s: with them %q, want %q", c.name, got, c.shared)
		}
		table := NewTable(found, nil)
		first, _ := table.Take("gpu=1", 0)
		second, ok := table.Take("gpu=1", 0)
		if !ok || env(second, true) != c.env || env(second, false) != c.bare {
			t.Errorf("%s: %q in a box, %q without: want %q and %q", c.name, env(second, true), env(second, false), c.env,
				c.bare)
		}
		mine := append(slices.Clone(found[0].Units[1].Files), found[0].Shared...)
		if !slices.Equal(second.Devices(), mine) {
			t.Errorf("%s: device files %v, want %v", c.name, second.Devices(), mine)
		}
		none, _ := table.Take("", 0)
		if none.Devices() != nil || env(none, true) != "GPU= CUDA= NVIDIA= ROCR= HIP=" || none.Any() {
			t.Errorf("%s: a task without a GPU has %v, %q", c.name, none.Devices(), env(none, true))
		}
		table.Give(first)
	}
}

func TestWhatIsDeclared(t *testing.T) {
	two := []Kind{{Name: grid.KindGPU, Vendor: Nvidia, Shared: []string{"/dev/nvidiactl"},
		Units: []Unit{{Files: []string{"/dev/nvidia0"}}, {Files: []string{"/dev/nvidia1"}}}}}
	for _, c := range []struct {
		name     string
		found    []Kind
		declared map[string]int64
		want     grid.Counts
		devices  string // that are kept from other tasks
		wrong    string
	}{
		{"nothing", nil, nil, "", "", ""},
		{"found", two, nil, "gpu=2", "/dev/nvidia0 /dev/nvidia1 /dev/nvidiactl", ""},
		{"one of two", two, map[string]int64{"gpu": 1}, "gpu=1", "/dev/nvidia0 /dev/nvidia1 /dev/nvidiactl", ""},
		{"none of two", two, map[string]int64{"gpu": 0}, "", "/dev/nvidia0 /dev/nvidia1 /dev/nvidiactl", ""},
		{"more than found", two, map[string]int64{"gpu": 3}, "", "", "gpu=3: this machine has 2: want at most that"},
		{"not found", nil, map[string]int64{"gpu": 4, "fpga": 1}, "fpga=1,gpu=4", "", ""},
	} {
		kinds, counts, err := Resolve(c.found, c.declared)
		if counts != c.want || fmt.Sprint(err) != "<nil>" && err.Error() != c.wrong || (err != nil) != (c.wrong != "") {
			t.Errorf("%s: %q, %v: want %q, %q", c.name, counts, err, c.want, c.wrong)
		}
		got := NewTable(kinds, nil).Devices()
		if slices.Sort(got); strings.Join(got, " ") != c.devices {
			t.Errorf("%s: device files %v, want %s", c.name, got, c.devices)
		}
		if len(two[0].Units) != 2 || two[0].Others != nil {
			t.Fatalf("%s: changes what was found", c.name)
		}
	}
}

// No unit and no processor is given twice, and what was given back can be had again.
func TestNothingIsGivenTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := []Kind{{Name: "fpga", Units: make([]Unit, 2)}, {Name: "gpu", Units: make([]Unit, 3)}}
		table := NewTable(kinds, []int{1, 4, 7})
		var held []*Grant
		free := func() (fpga, gpu, cpus int) {
			fpga, gpu, cpus = 2, 3, 3
			for _, g := range held {
				fpga, gpu, cpus = fpga-len(g.units[0]), gpu-len(g.units[1]), cpus-len(g.CPUs)
			}
			return fpga, gpu, cpus
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(held) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				table.Give(held[i])
				held = slices.Delete(held, i, i+1)
				continue
			}
			f, g, c := rapid.Int64Range(0, 2).Draw(t, "fpga"), rapid.Int64Range(0, 3).Draw(t, "gpu"),
				rapid.IntRange(0, 3).Draw(t, "cpus")
			need := grid.Resources{Counts: grid.CountsOf("fpga", f)}.Plus(grid.Resources{Counts: grid.CountsOf("gpu", g)})
			fpga, gpu, cpus := free()
			grant, ok := table.Take(need.Counts, c)
			if want := int(f) <= fpga && int(g) <= gpu && c <= cpus; ok != want {
				t.Fatalf("%s and %d processors of %d, %d, %d: %v, want %v", need.Counts, c, fpga, gpu, cpus, ok, want)
			}
			if ok {
				held = append(held, grant)
			}
			seen := map[string]bool{}
			for _, g := range held {
				for k, list := range append(slices.Clone(g.units), g.CPUs) {
					for _, i := range list {
						if key := fmt.Sprint(k, ".", i); seen[key] {
							t.Fatalf("%s is given twice", key)
						} else {
							seen[key] = true
						}
					}
				}
			}
		}
	})
	table := NewTable(nil, nil)
	if _, ok := table.Take("gpu=1", 0); ok {
		t.Error("a kind that the node has not is given")
	}
}

// The table may be used by many at once.
func TestTableIsShared(t *testing.T) {
	table := NewTable([]Kind{{Name: "gpu", Units: make([]Unit, 4)}}, []int{0, 1, 2, 3})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				if g, ok := table.Take("gpu=1", 1); ok {
					table.Give(g)
				}
			}
		})
	}
	all.Wait()
	if g, ok := table.Take("gpu=4", 4); !ok || !slices.Equal(g.CPUs, []int{0, 1, 2, 3}) {
		t.Error("something was not given back")
	}
}

func TestThreads(t *testing.T) {
	for cpu, want := range map[grid.MilliCPU]int{100: 1, 1000: 1, 1999: 1, 2500: 2, 64_000: 64} {
		if got := Threads(cpu); got != want || !slices.Contains(ThreadEnv(cpu), fmt.Sprint("OMP_NUM_THREADS=", want)) {
			t.Errorf("%d: %d threads, %v: want %d", cpu, got, ThreadEnv(cpu), want)
		}
	}
}
