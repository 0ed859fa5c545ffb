package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"skep/sim/marketplace"
	"skep/sim/net"
	"skep/sim/queueing"
)

// Every example of a job file, a scenario, a queueing system, a market, a testnet and a config file is read as the verb
// reads it.
func TestExamplesInPagesAreValid(t *testing.T) {
	for _, p := range readPages(t) {
		for _, b := range p.blocks {
			if b.language != "yaml" {
				continue
			}
			if err := readExample(t, b.text); err != nil {
				t.Errorf("%s:%d: %v", p.name, b.line, err)
			}
		}
	}
}

// readExample reads a file with the parser of its kind, which its keys tell.
func readExample(t *testing.T, text string) error {
	has := func(key string) bool { return regexp.MustCompile(`(?m)^` + key + `:`).MatchString(text) }
	var err error
	switch b := []byte(text); {
	case has("command"), has("jobs"):
		_, err = readJobs("job", b)
	case has("workload"):
		beside := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join("testdata/docs", name)) }
		_, _, err = net.ParseScenario("scenario", b, beside, nil)
	case has("mu"):
		_, err = queueing.Read("system", b)
	case has("servers"):
		_, err = marketplace.Read("market", b)
	case has("nodes"):
		_, err = readTestnet("testnet", b)
	default:
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, configName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		values, lerr := loadSettings(dir, pflag.NewFlagSet("", pflag.ContinueOnError))
		if err = lerr; err == nil {
			_, err = applySettings(values)
		}
	}
	return err
}

// A block is in a known language. A session is run by TestPages, unless a comment says why not, or which test does.
func TestSessionsInPagesAreRun(t *testing.T) {
	tests := sourceOf(t, ".")
	for _, p := range readPages(t) {
		for _, b := range p.blocks {
			marks := b.notRun + b.runBy + b.needs + b.machine + b.numbers
			switch {
			case !b.session() && b.language != "yaml" && b.language != "go":
				t.Errorf("%s:%d: a block of %q: want console, sh, yaml or go", p.name, b.line, b.language)
			case !b.session() && marks != "":
				t.Errorf("%s:%d: a comment on how a block is run, but it has no commands", p.name, b.line)
			case b.session() && len(b.commands()) == 0:
				t.Errorf("%s:%d: has no commands: in a console they follow a dollar sign", p.name, b.line)
			case b.runBy != "" && !strings.Contains(tests, "func "+b.runBy+"("):
				t.Errorf("%s:%d: there is no %s in cmd/skep", p.name, b.line, b.runBy)
			}
		}
	}
}

// sourceOf returns the tests of a package.
func sourceOf(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

var (
	span     = regexp.MustCompile("`([^`]+)`")
	inSpan   = regexp.MustCompile(`^(skep|make|go test) `)
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	link     = regexp.MustCompile(`\]\(([^)#:]+)[^):]*\)`)
	ending   = regexp.MustCompile(`\s(\||;|&&|#|2?>)\s.*|\s--\s.*`)
	testFlag = regexp.MustCompile(`-(?:run|bench) (\w+)`)
)

// Every command that a page names has a verb and flags that there are, also those that are not run; every link leads
// to a file, and every test that is named is there.
func TestPagesNameWhatThereIs(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range readPages(t) {
		var named []string
		for _, m := range span.FindAllStringSubmatch(fenced.ReplaceAllString(p.text, ""), -1) {
			if inSpan.MatchString(m[1]) {
				named = append(named, m[1])
			}
		}
		for _, b := range p.blocks {
			if b.session() {
				for _, c := range b.commands() {
					named = append(named, strings.Split(c.text, "| ")...)
				}
			}
		}
		for _, text := range named {
			if err := checkNamed(t, text, string(makefile)); err != nil {
				t.Errorf("%s: `%s`: %v", p.name, text, err)
			}
		}
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(p.name), m[1])); err != nil {
				t.Errorf("%s: a link leads nowhere: %v", p.name, err)
			}
		}
	}
}

// checkNamed checks a command that a page names.
func checkNamed(t *testing.T, text, makefile string) error {
	words := strings.Fields(ending.ReplaceAllString(strings.ReplaceAll(text, "\\\n", " "), ""))
	if len(words) < 2 {
		return nil
	}
	switch words[0] {
	case "skep":
		root := (&app{}).root()
		cmd, rest, err := root.Find(words[1:])
		var bare *pflag.ValueRequiredError // a flag that is named without a value
		if err == nil {
			if err = cmd.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) || errors.As(err, &bare) {
				err = nil
			}
		}
		if err == nil && cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
			err = fmt.Errorf("%s has no verb %q", cmd.CommandPath(), cmd.Flags().Arg(0))
		}
		return err
	case "make":
		if !regexp.MustCompile(`(?m)^` + words[1] + `:`).MatchString(makefile) {
			return fmt.Errorf("the Makefile has no such target")
		}
	case "go":
		m := testFlag.FindStringSubmatch(text)
		for _, dir := range words {
			if m == nil || !strings.HasPrefix(dir, "./") {
				continue
			}
			if !regexp.MustCompile(`func (Test|Benchmark)\w*` + m[1]).MatchString(sourceOf(t, filepath.Join("../..", dir))) {
				return fmt.Errorf("%s has no such test", dir)
			}
		}
	}
	return nil
}

// The README is the way in: short, with the test command that is run for every change, and a link to each page.
func TestReadmeLeadsToEverything(t *testing.T) {
	pages := readPages(t)
	readme := pages[0].text
	if n := strings.Count(readme, "\n"); n > 150 {
		t.Errorf("README.md has %d lines: want at most 150; more belongs to docs/", n)
	}
	for _, p := range pages[1:] {
		if !strings.Contains(readme, "]("+p.name+")") {
			t.Errorf("README.md has no link to %s", p.name)
		}
	}
	run, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(run)), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(readme, last) {
		t.Errorf(".ci/run ends with %q, which README.md does not name", last)
	}
}
