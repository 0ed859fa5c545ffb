//go:build amd64 || arm64

package zygote

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// afterFork are the files whose code runs in a fork, where there is no Go runtime.
var afterFork = []string{"spawn_linux.go", "forker_linux.go", "children_linux.go", "stub_linux.go", "inside_linux.go",
	"command_linux.go", "socket_linux.go", "service_linux.go", "share_linux.go"}

// Every function there is nosplit, so that the linker checks the stack, and is not instrumented.
func TestFunctionsAfterTheForkAreMarked(t *testing.T) {
	for _, name := range afterFork {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			var marks []string
			if fn.Doc != nil {
				for _, c := range fn.Doc.List {
					marks = append(marks, c.Text)
				}
			}
			for _, want := range []string{"//go:nosplit", "//go:norace"} {
				if !slices.Contains(marks, want) {
					t.Errorf("%s: %s has no %s", name, fn.Name.Name, want)
				}
			}
		}
	}
}

var called = regexp.MustCompile(`/zygote/([a-z]+_linux\.go):(\d+)\)\s+(?:CALL|BL)\s+(\S+)\(SB\)`)

// The compiled code calls the runtime for nothing but a failed bound, which ends the process: no stack that grows, no
// allocation, no write barrier, no check that an option of the compiler has put in.
func TestCodeAfterTheForkCallsNoRuntime(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles")
	}
	out, err := exec.Command("go", "build", "-gcflags=-S", ".").CombinedOutput()
	if err != nil {
		t.Skip("no compiler here: ", err)
	}
	calls := called.FindAllStringSubmatch(string(out), -1)
	if len(calls) < 50 {
		t.Fatalf("%d calls found in what the compiler says", len(calls))
	}
	for _, c := range calls {
		file, line, callee := c[1], c[2], c[3]
		if slices.Contains(afterFork, file) && !strings.HasPrefix(callee, "skep/exec/sandbox/zygote.") &&
			callee != "syscall.RawSyscall6" && callee != "runtime.panicBounds" && callee != "runtime.duffzero" {
			t.Errorf("%s:%s calls %s", file, line, callee)
		}
	}
}
