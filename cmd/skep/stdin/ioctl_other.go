//go:build unix && !linux

package stdin

const inputSize = 0x4004667f // FIONREAD
