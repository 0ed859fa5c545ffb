package mutants

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Mutant is one fault.
type Mutant struct {
	Name string // what is wrong then
	File string // from the root of the module
	From string // the text that goes, which the file has once
	To   string // what stands there instead
	Test string // that finds it
	In   string // folder of the test; that of the file if empty
}

// apply returns the text of the file with the fault.
func (m *Mutant) apply(source []byte) ([]byte, error) {
	from := []byte(m.From)
	if n := bytes.Count(source, from); n != 1 || len(from) == 0 {
		return nil, fmt.Errorf("%s: has the text %d times: want it once", m.File, n)
	}
	return bytes.Replace(source, from, []byte(m.To), 1), nil
}

// folder is that of the test.
func (m *Mutant) folder() string { return cmp.Or(m.In, filepath.ToSlash(filepath.Dir(m.File))) }

// pkg is the package of the test, as go test wants it.
func (m *Mutant) pkg() string { return "./" + m.folder() }

// killed makes the fault in a copy below dir and runs the test on it. It returns an error where the test passes, or
// where something else than the test fails.
func (m *Mutant) killed(root, dir string) error {
	path := filepath.Join(root, filepath.FromSlash(m.File))
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := m.apply(source)
	if err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: filepath.Join(dir, "mutant.go")}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "mutant.go"), changed, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		return err
	}
	out, err := test(root, m.pkg(), m.Test, "-overlay", filepath.Join(dir, "overlay.json"))
	switch {
	case err == nil:
		return fmt.Errorf("%s passes with the fault", m.Test)
	case !strings.Contains(out, "--- FAIL: "+m.Test):
		return fmt.Errorf("%s did not fail, but something else did: %w\n%s", m.Test, err, out)
	}
	return nil
}

// test runs the tests of a package whose names match.
func test(root, pkg, names string, args ...string) (string, error) {
	args = append([]string{"test", "-count", "1", "-timeout", "5m", "-run", "^(" + names + ")$"}, args...)
	c := exec.Command("go", append(args, pkg)...)
	c.Dir = root
	out, err := c.CombinedOutput()
	return string(out), err
}
