package grid

import (
	"strings"
	"testing"
)

// A class is made of whatever a program is called, and is always one that Check and the wire accept.
func TestClassOfIsText(t *testing.T) {
	for _, program := range []string{"sim", "a\nb\x7f", "\xff\xfe", strings.Repeat("ü", 60), "x" + strings.Repeat("ü", 60),
		""} {
		spec := &JobSpec{Engine: EngineProcess, Command: []string{program}, Count: 1,
			Needs: Needs{Resources: Resources{CPU: 1}}}
		class := ClassOf(spec)
		spec.Class, spec.Command = class, []string{"x"}
		if err := spec.Check(); err != nil {
			t.Errorf("program %q: %v", program, err)
		}
	}
}
