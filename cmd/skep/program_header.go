package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
)

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
