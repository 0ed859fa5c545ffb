package main

import (
	"os"
	"strings"
	"unsafe"

	"skep/node/p2p/wire"
)

// takeArgs returns the arguments of this process and blanks the join tokens among them where ps and /proc/PID/cmdline
// show them, as curl and mysql do with passwords: there they would be visible for as long as the node runs. The
// strings of os.Args are that memory [1], so it can be written from here; until then, some milliseconds after the
// start, a token is visible.
//
//	[1] runtime, goargs: the arguments are not copied.
func takeArgs() []string {
	args := make([]string, len(os.Args))
	for i, a := range os.Args {
		args[i] = strings.Clone(a)
	}
	for i := range args {
		from, to := tokenIn(args, i)
		if from == to {
			continue
		}
		shown := unsafe.Slice(unsafe.StringData(os.Args[i]), len(os.Args[i]))
		for k := from; k < to; k++ {
			shown[k] = 'x'
		}
	}
	return args[1:]
}

// tokenIn returns the range of an argument that is or contains a token: the value of --join, and anything else that
// looks like one.
func tokenIn(args []string, i int) (from, to int) {
	a := args[i]
	value, joined := strings.CutPrefix(a, "--join=")
	if !joined && i > 0 && args[i-1] == "--join" {
		value, joined = a, true
	}
	if joined && value != stdinName && !strings.HasPrefix(value, "-") {
		return len(a) - len(value), len(a)
	}
	return wire.TokenIn(a)
}
