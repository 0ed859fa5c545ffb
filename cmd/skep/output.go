package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"skep/cmd/skep/progress"
)

// format is the format of a listing; it is a flag's value.
type format string

// wide is a table whose lines are as long as they are.
const wide format = "wide"

// wideFlag is the flag that makes a table wide.
type wideFlag struct{ *format }

// Set implements pflag.Value.
func (f wideFlag) Set(s string) error {
	on, err := strconv.ParseBool(s)
	if on && *f.format == "table" {
		*f.format = wide
	}
	return err
}

// Type implements pflag.Value.
func (f wideFlag) Type() string { return "bool" }

// String implements pflag.Value.
func (f wideFlag) String() string { return "false" }

// isTable reports whether the format is for people.
func (f format) isTable() bool { return f == "table" || f == wide }

// outputFlag adds --output and --wide to a listing.
func outputFlag(cmd *cobra.Command, f *format) {
	*f = "table"
	cmd.Flags().Var(wideFlag{f}, "wide", "whole lines of a table, also where the terminal is narrower")
	cmd.Flags().Lookup("wide").NoOptDefVal = "true"
	cmd.Flags().Var(f, "output", "table, json or yaml")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json", "yaml"},
		cobra.ShellCompDirectiveNoFileComp))
}

// String implements pflag.Value.
func (f *format) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *format) Type() string { return "format" }

// Set implements pflag.Value.
func (f *format) Set(s string) error {
	switch s {
	case "table", "json", "yaml":
		if !(s == "table" && *f == wide) { // --wide came before
			*f = format(s)
		}
		return nil
	}
	return fmt.Errorf("want table, json or yaml")
}

// print prints v: as a table for people, or with all fields and full IDs for programs.
func (f format) print(w io.Writer, v any, table func(*tabwriter.Writer)) error {
	if f.isTable() {
		var text bytes.Buffer
		t := tabwriter.NewWriter(sanitizingWriter{&text}, 0, 0, 2, ' ', 0)
		table(t)
		if err := t.Flush(); err != nil {
			return err
		}
		_, err := io.WriteString(w, fitLines(text.String(), f.width(w)))
		return err
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	b = escapeUnprintable(b)
	if f == "yaml" {
		y, err := yaml.JSONToYAML(b)
		if err != nil {
			return err
		}
		if printableLines(y) { // else it stays JSON, which is valid YAML and has escapes
			b = y
		}
	}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		b = append(b, '\n')
	}
	_, err = w.Write(b)
	return err
}

// width returns the columns that a table may have on w; 0 = any number.
func (f format) width(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || f == wide {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil { // it is no terminal
		return 0
	}
	return int(size.Col)
}

// wholeID is the ID of a node, which stands in that of a job too.
var wholeID = regexp.MustCompile(`[a-z2-7]{52}`)

// fitLines cuts what is beyond a width off each line: the columns of a table come in the order of their importance. A
// line with a whole ID, which people copy, is never cut.
func fitLines(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		line = strings.TrimRight(line, " ")
		if runes := []rune(line); len(runes) > width && !wholeID.MatchString(line) {
			line = string(runes[:width-1]) + "…"
		}
		b.WriteString(line)
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// row prints a line of a table.
func row(w io.Writer, cells ...any) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprint(w, c)
	}
	fmt.Fprintln(w)
}

// age formats a duration in about two digits.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return progress.Age(d)
}

// secs formats seconds as a duration.
func secs(s float64) string {
	if s == 0 {
		return "-"
	}
	return age(time.Duration(s * float64(time.Second)))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// tableFormat is an output format that may also be csv; it is a flag's value.
type tableFormat string

func (f *tableFormat) flag(cmd *cobra.Command) {
	*f = "table"
	cmd.Flags().Var(f, "output", "table, json, yaml or csv")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json", "yaml", "csv"},
		cobra.ShellCompDirectiveNoFileComp))
}

// String implements pflag.Value.
func (f *tableFormat) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *tableFormat) Type() string { return "format" }

// Set implements pflag.Value.
func (f *tableFormat) Set(s string) error {
	switch s {
	case "table", "json", "yaml", "csv":
		*f = tableFormat(s)
		return nil
	}
	return fmt.Errorf("want table, json, yaml or csv")
}
