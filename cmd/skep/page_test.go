package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A page is README.md or a page of docs/. What it shows is checked by these rules, which DESIGN.md has for writers.
type page struct {
	name   string // as README.md or docs/guide.md
	text   string
	blocks []*block
}

// block is a fenced block of a page, with the comments right before it that say how it is checked.
type block struct {
	line     int // of its fence
	language string
	text     string

	notRun  string // the reason
	runBy   string // test that runs the same
	needs   string // program without which it is not run
	machine string // where it is run
	numbers string // "vary", or "of" the platform on which they are as shown
}

// command is one command of a block and the output shown below it.
type command struct {
	line  int
	text  string
	shown string
}

var (
	fence    = regexp.MustCompile("^```([a-z]*)$")
	mistyped = regexp.MustCompile("^\\s*(```|~~~)")
	remark   = regexp.MustCompile(`^<!-- (not run:|run by|needs:|machine:|numbers) (.+) -->$`)
)

// readPages reads all pages.
func readPages(t *testing.T) []*page {
	t.Helper()
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	var pages []*page
	for _, name := range append([]string{"../../README.md"}, names...) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := readPage(strings.TrimPrefix(name, "../../"), string(b))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, p)
	}
	return pages
}

// readPage parses a page. A remark must stand right before a block, so that a mistyped or misplaced one is an error.
func readPage(name, text string) (*page, error) {
	p := &page{name: name, text: text}
	next := &block{}
	var open *block
	for i, line := range strings.Split(text, "\n") {
		at := func(format string, args ...any) error {
			return fmt.Errorf("%s:%d: %s", name, i+1, fmt.Sprintf(format, args...))
		}
		m := fence.FindStringSubmatch(line)
		switch {
		case open != nil && line == "```":
			p.blocks, open = append(p.blocks, open), nil
		case open != nil:
			open.text += line + "\n"
		case m != nil:
			open, next = next, &block{}
			open.line, open.language = i+1, m[1]
		case strings.HasPrefix(line, "<!--"):
			m := remark.FindStringSubmatch(line)
			if m == nil {
				return nil, at("%q: want a comment of the form not run: REASON, run by TEST, needs: PROGRAM, "+
					"machine: NAME, numbers vary or numbers of PLATFORM", line)
			}
			*next.remark(m[1]) = m[2]
		case mistyped.MatchString(line):
			return nil, at("%q: want ``` and a language at the start of a line", line)
		case *next != (block{}):
			return nil, at("a comment on how a block is checked must stand right before it")
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s:%d: the block does not end", name, open.line)
	}
	return p, nil
}

// remark returns the field that a comment of that kind sets.
func (b *block) remark(kind string) *string {
	switch kind {
	case "not run:":
		return &b.notRun
	case "run by":
		return &b.runBy
	case "needs:":
		return &b.needs
	case "machine:":
		return &b.machine
	}
	return &b.numbers
}

// session reports whether a block shows commands.
func (b *block) session() bool { return b.language == "console" || b.language == "sh" }

// commands returns the commands of a block: in a console those after a dollar sign, in a script each line.
func (b *block) commands() []command {
	var all []command
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		last := len(all) - 1
		text, prompted := strings.CutPrefix(line, "$ ")
		switch {
		case b.language == "sh" && last >= 0 && strings.HasSuffix(all[last].text, `\`):
			all[last].text += "\n" + line
		case b.language == "sh" && strings.TrimSpace(line) == "":
		case b.language == "sh" || prompted:
			all = append(all, command{line: b.line + 1 + i, text: text})
		case last >= 0 && strings.HasSuffix(all[last].text, `\`):
			all[last].text += "\n" + strings.TrimPrefix(line, "> ")
		case last >= 0:
			all[last].shown += line + "\n"
		}
	}
	return all
}

// file returns the name that a YAML block has in its first line, as in # sweep.yaml, or "".
func (b *block) file() string {
	m := regexp.MustCompile(`^# ([a-z-]+\.yaml)\b`).FindStringSubmatch(b.text)
	if m == nil {
		return ""
	}
	return m[1]
}

var (
	number  = regexp.MustCompile(`[0-9]+(\\\.[0-9]+)?`)
	blanks  = regexp.MustCompile(`[ \t]+`)
	outside = regexp.MustCompile(`(?m)^…\n`)
)

// pattern returns what an output must match to be as shown: … stands for anything in its line, or for any lines if it
// is alone in its line, and blanks for any blanks. With anyNumber each number stands for any number.
func pattern(shown string, anyNumber bool) *regexp.Regexp {
	lines := outside.ReplaceAllString(shown, "\x00")
	p := blanks.ReplaceAllString(regexp.QuoteMeta(lines), `[ \t]+`)
	if anyNumber {
		p = number.ReplaceAllString(p, `[0-9]+(\.[0-9]+)?`)
	}
	p = strings.ReplaceAll(p, "…", ".*")
	p = strings.ReplaceAll(p, "\x00", `(?:.*\n)*`)
	return regexp.MustCompile(`^` + strings.ReplaceAll(p, "\n", `[ \t]*`+"\n") + `$`)
}

func TestPattern(t *testing.T) {
	const shown = "READY x (…)\n…\nrun  1.5 ± 2\n"
	for out, want := range map[string][2]bool{
		"READY x (abc)\nrun 1.5 ± 2\n":               {true, true},
		"READY x (abc)\n  a\n  b\nrun   1.5 ± 2  \n": {true, true},
		"READY x (abc)\nrun 17 ± 0.3\n":              {false, true},
		"READY x (abc)\nrun b ± 0.3\n":               {false, false},
		"READY y (abc)\nrun 1.5 ± 2\n":               {false, false},
		"READY x (abc)\nrun 1.5 ± 2\nmore\n":         {false, false},
	} {
		for i, anyNumber := range []bool{false, true} {
			if got := pattern(shown, anyNumber).MatchString(out); got != want[i] {
				t.Errorf("%q, any number %v: %v", out, anyNumber, got)
			}
		}
	}
}

func TestReadPage(t *testing.T) {
	p, err := readPage("x.md", "a\n<!-- numbers vary -->\n```console\n$ a \\\n> b  # c\nout\n$ d\n```\n"+
		"<!-- not run: no -->\n```sh\ne \\\n  f\ng\n```\n")
	if err != nil || len(p.blocks) != 2 {
		t.Fatalf("%d blocks, %v", len(p.blocks), err)
	}
	for i, want := range [][]command{
		{{4, "a \\\nb  # c", "out\n"}, {7, "d", ""}},
		{{11, "e \\\n  f", ""}, {13, "g", ""}},
	} {
		if got := p.blocks[i].commands(); !slices.Equal(got, want) {
			t.Errorf("block %d: %+v, want %+v", i, got, want)
		}
	}
	if p.blocks[0].numbers != "vary" || p.blocks[1].notRun != "no" {
		t.Errorf("%+v, %+v", p.blocks[0], p.blocks[1])
	}
	for _, bad := range []string{
		"<!-- not ran: x -->\n```sh\n```\n",
		"<!-- not run: -->\n```sh\n```\n",
		"<!-- not run: x -->\n\n```sh\n```\n",
		"```sh\n",
		"```sh x\n```\n",
		"  ```sh\n  ```\n",
		"~~~\n",
	} {
		if _, err := readPage("x.md", bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
