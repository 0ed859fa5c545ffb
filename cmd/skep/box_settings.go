package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/goccy/go-yaml/ast"

	"skep/cmd/skep/resources"
	"skep/document"
	"skep/exec/child"
	"skep/exec/sandbox"
	"skep/grid"
	"skep/node/api/client"
	"skep/node/p2p/engines"
)

// boxSettings configure the boxes that tasks run in.
var boxSettings = []setting{
	{name: "isolation",
		usage: "least level at which tasks are kept from the machine: none (no boxes), basic or strict (default as good " +
			"as can be; below basic the node takes no tasks of others)",
		apply: setIsolation},
	{name: "expose",
		usage: "DIR or DIR:rw that tasks see besides programs and libraries, read-only or writable; a node of root runs " +
			"with DIR:rw:as=USER:for=NAME[@NODE] as USER those of such submitters that ask for it with --workdir or --home",
		shape: several, inFile: readExposed, apply: setExpose},
	{name: "hide",
		usage: "folder that tasks do not see, though it lies in one that they do, as the data folder of another node",
		shape: several,
		apply: func(n *nodeSettings, v []string) error { n.Boxes.Hide = v; return nil }},
	{name: "task_uids", usage: "user IDs of which each attempt gets one, where the node is root",
		def:   []string{sandbox.DefaultRange.String()},
		apply: func(n *nodeSettings, v []string) (err error) { n.Boxes.TaskIDs, err = sandbox.ParseRange(v[0]); return }},
	{name: "task_processes", usage: "bound of the processes and threads of a task", def: []string{"4096"},
		apply: func(n *nodeSettings, v []string) error { return setCount(&n.Boxes.Processes, v[0]) }},
	{name: "task_disk", usage: "bound of the files of a task, as in 10GiB (default what is free but for disk_reserve)",
		apply: func(n *nodeSettings, v []string) error { return setSize(&n.Boxes.Disk, v[0]) }},
	{name: "task_files", usage: "bound of the number of files of a task", def: []string{"200000"},
		apply: func(n *nodeSettings, v []string) error { return setCount(&n.Boxes.Files, v[0]) }},
	{name: "landlock",
		usage: "newest version of Landlock to use, 0 for none: to try what an older kernel gives (default what the " +
			"kernel has)",
		apply: setLandlock},
	{name: "tun", flag: "no-tun", usage: "leave /dev/net/tun alone: only gangs that name their ports can run here",
		def: []string{"true"}, shape: onOff,
		apply: func(n *nodeSettings, v []string) error {
			tun, err := document.ParseBool(v[0])
			n.Boxes.NoTUN = !tun
			return err
		}},
}

// engineSettings say what runs tasks. engine comes first.
var engineSettings = []setting{
	{name: "engine", usage: "what runs tasks: process, this machine; slurm, the cluster that this machine submits to; " +
		"or skep, another grid",
		def: []string{"process"}, apply: setEngine},
	{name: "partition", usage: "partition of Slurm that tasks run in (default the cluster's)",
		apply: func(n *nodeSettings, v []string) error {
			return setSlurm(n, func(s *engines.Slurm) { s.Partition = v[0] })
		}},
	{name: "slurm_account", usage: "account of Slurm that tasks are charged to (default the user's)",
		apply: func(n *nodeSettings, v []string) error {
			return setSlurm(n, func(s *engines.Slurm) { s.Account = v[0] })
		}},
	{name: "slurm_option", usage: "further option of sbatch, as in qos=low or exclusive", shape: several,
		apply: func(n *nodeSettings, v []string) error {
			return setSlurm(n, func(s *engines.Slurm) { s.Extra = v })
		}},
	{name: "slurm_dir", usage: "folder for tasks in Slurm that the compute nodes see at the same path (default the data " +
		"folder)",
		apply: func(n *nodeSettings, v []string) error {
			return setSlurm(n, func(s *engines.Slurm) { s.Dir = v[0] })
		}},
	{name: "grid", usage: "file, of mode 0600, with what skep node token --api prints at a node of the grid that tasks " +
		"run in",
		apply: setGrid},
}

// setGrid reads which node of another grid is reached.
func setGrid(n *nodeSettings, v []string) error {
	if n.Boxes.Engine.Child == nil {
		return errors.New("is for tasks in another grid: want --engine skep with it")
	}
	text, err := readRemote(v[0])
	if err != nil {
		return fmt.Errorf("%s: %w", v[0], err)
	}
	if n.Boxes.Engine.Child.Remote, err = client.ParseRemote(text); err != nil {
		return fmt.Errorf("%s: %w", v[0], err)
	}
	return nil
}

func setEngine(n *nodeSettings, v []string) error {
	switch v[0] {
	case "process":
	case "slurm":
		n.Boxes.Engine.Slurm = new(engines.Slurm)
	case child.EngineName:
		n.Boxes.Engine.Child = new(engines.Child)
	default:
		return fmt.Errorf("%.40q: want process, slurm or skep", v[0])
	}
	return nil
}

// setSlurm sets what is for tasks in Slurm alone.
func setSlurm(n *nodeSettings, set func(*engines.Slurm)) error {
	if n.Boxes.Engine.Slurm == nil {
		return errors.New("is for tasks in Slurm: want --engine slurm with it")
	}
	set(n.Boxes.Engine.Slurm)
	return nil
}

func setIsolation(n *nodeSettings, v []string) error {
	level, err := grid.ParseIsolation(v[0])
	n.Boxes.Isolation = &level
	if err != nil { // the name of the setting comes before
		return errors.New(strings.TrimPrefix(err.Error(), "isolation "))
	}
	return nil
}

func setExpose(n *nodeSettings, v []string) error {
	var problems []error
	for _, text := range v {
		e, err := sandbox.ParseExpose(text)
		problems = append(problems, err)
		n.Boxes.Expose = append(n.Boxes.Expose, e)
	}
	return errors.Join(problems...)
}

// readExposed reads the list of the config file, in which a folder may be a mapping of dir, mode, as and for.
func readExposed(f *document.Reader, e document.Entry) (out []string) {
	list, ok := e.Value.(*ast.SequenceNode)
	if !ok {
		return f.Texts(e.Value, e.Key)
	}
	for _, n := range list.Values {
		if !isMapping(n) {
			if t, ok := f.Text(n, e.Key); ok {
				out = append(out, t)
			}
			continue
		}
		parts := map[string][]string{}
		for _, x := range f.Mapping(n, e.Key, "dir", "mode", "as", "for") {
			if x.Key == "for" {
				parts["for"] = f.Texts(x.Value, e.Key+" for")
			} else if t, ok := f.Text(x.Value, e.Key+" "+x.Key); ok {
				parts[x.Key] = []string{t}
			}
		}
		if len(parts["dir"]) == 0 {
			f.At(n, "%s: want dir, the folder", e.Key)
		}
		words := slices.Concat(parts["dir"], parts["mode"])
		for _, key := range [...]string{"as", "for"} {
			for _, value := range parts[key] {
				words = append(words, key+"="+value)
			}
		}
		out = append(out, strings.Join(words, ":"))
	}
	return out
}

func setResources(n *nodeSettings, v []string) (err error) {
	n.Resources, err = resources.Parse(v)
	return err
}

func setCount(dst *int64, text string) (err error) {
	if *dst, err = strconv.ParseInt(text, 10, 64); err != nil || *dst < 1 {
		return fmt.Errorf("%.40q: want a whole number of 1 or more", text)
	}
	return nil
}

func setLandlock(n *nodeSettings, v []string) error {
	version, err := strconv.Atoi(v[0])
	if err != nil || version < 0 || version > 100 {
		return fmt.Errorf("%.40q: want the number of a version, or 0 for none", v[0])
	}
	if n.Boxes.Landlock = version; version == 0 {
		n.Boxes.Landlock = -1
	}
	return nil
}

func isMapping(n ast.Node) bool {
	return n.Type() == ast.MappingType || n.Type() == ast.MappingValueType
}

// isNotDir reports whether a path has a file in the place of a folder; whoever opens the folder reports that.
func isNotDir(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p) && errors.Is(p.Err, syscall.ENOTDIR)
}
