package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "skep/node/api/v1"
)

// program returns the command's program as an input if its name has a slash and is a local file. An absolute one that
// is no file here may be one on the worker, and with a work folder of the worker's machine the program is there.
func program(spec *v1.Spec, dir string) (*inputFile, error) {
	if len(spec.Command) == 0 || !strings.Contains(spec.Command[0], "/") || spec.Workdir != "" {
		return nil, nil
	}
	from := absolute(dir, spec.Command[0])
	st, err := os.Stat(from)
	switch {
	case err == nil && st.IsDir():
		return nil, fmt.Errorf("program %.80q: is a folder: want a file that can be executed", spec.Command[0])
	case err != nil || !st.Mode().IsRegular():
		return nil, nil
	}
	m, err := sniff(from)
	if err != nil {
		return nil, fmt.Errorf("program %s: %w", from, err)
	}
	for k, v := range map[string]string{"os": m.os, "arch": m.arch} {
		if _, said := spec.Needs.Labels[k]; v == "" || said {
			continue
		}
		if spec.Needs.Labels == nil {
			spec.Needs.Labels = map[string][]string{}
		}
		spec.Needs.Labels[k] = []string{v}
	}
	to := workPath(spec.Command[0])
	spec.Command = append([]string{"./" + to}, spec.Command[1:]...)
	return &inputFile{source: from, to: v1.File{Path: to, Size: st.Size(), Exec: true}}, nil
}

// checkProgram reports that a program with a relative path is neither a local file nor one of the inputs: no worker can
// have it. What has values in its name is not looked at.
func checkProgram(spec *v1.Spec, files []inputFile) error {
	name := spec.Command[0]
	if !strings.Contains(name, "/") || filepath.IsAbs(name) || strings.Contains(name, "${") || spec.Workdir != "" {
		return nil
	}
	for i := range files {
		if files[i].to.Path == workPath(name) {
			return nil
		}
	}
	return fmt.Errorf("program %.80q: no such file, and no input of that name: want a file here, an absolute path on the "+
		"workers, or a name without a slash", name)
}

// machine is the platform that a program needs; empty strings where its header does not say.
type machine struct{ os, arch string }

var elfMachines = map[uint16]string{3: "386", 8: "mips", 20: "ppc", 21: "ppc64", 22: "s390x", 40: "arm", 62: "amd64",
	183: "arm64", 243: "riscv64", 258: "loong64"}
var elfSystems = map[byte]string{0: "linux", 2: "netbsd", 3: "linux", 6: "solaris", 9: "freebsd", 12: "openbsd"}
var machMachines = map[uint32]string{7: "386", 0x01000007: "amd64", 12: "arm", 0x0100000c: "arm64"}
var peMachines = map[uint16]string{0x14c: "386", 0x8664: "amd64", 0x1c0: "arm", 0xaa64: "arm64"}

// sniff reads from a program's header which platform it is for. A script or an unknown format runs wherever its
// interpreter is: it needs nothing.
func sniff(path string) (machine, error) {
	f, err := os.Open(path)
	if err != nil {
		return machine{}, err
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return machine{}, err
	}
	return machineOf(head[:n]), nil
}

func machineOf(h []byte) machine {
	switch {
	case len(h) >= 20 && bytes.HasPrefix(h, []byte("\x7fELF")):
		return elfOf(h)
	case len(h) >= 8 && binary.LittleEndian.Uint32(h) == 0xfeedfacf, len(h) >= 8 &&
		binary.LittleEndian.Uint32(h) == 0xfeedface:
		return machine{"darwin", machMachines[binary.LittleEndian.Uint32(h[4:])]}
	case len(h) >= 8 && binary.BigEndian.Uint32(h) == 0xcafebabe && binary.BigEndian.Uint32(h[4:]) < 20:
		return machine{os: "darwin"} // several architectures; more than 20 would be a Java class
	case len(h) >= 0x40 && bytes.HasPrefix(h, []byte("MZ")):
		at := uint64(binary.LittleEndian.Uint32(h[0x3c:]))
		if at+6 <= uint64(len(h)) && bytes.HasPrefix(h[at:], []byte("PE\x00\x00")) {
			return machine{"windows", peMachines[binary.LittleEndian.Uint16(h[at+4:])]}
		}
	}
	return machine{}
}

func elfOf(h []byte) machine {
	var order binary.ByteOrder = binary.LittleEndian
	if h[5] == 2 {
		order = binary.BigEndian
	}
	m := machine{elfSystems[h[7]], elfMachines[order.Uint16(h[18:])]}
	switch {
	case m.arch == "ppc64" && h[5] == 1:
		m.arch = "ppc64le"
	case m.arch == "mips" && h[5] == 1:
		m.arch = "mipsle"
	case m.arch == "riscv64" && h[4] == 1, m.arch == "s390x" && h[4] == 1:
		m.arch = ""
	}
	return m
}
