package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
)

// format is the format of a listing; it is a flag's value.
type format string

// outputFlag adds --output to a listing.
func outputFlag(cmd *cobra.Command, f *format) {
	*f = "table"
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
		*f = format(s)
		return nil
	}
	return fmt.Errorf("want table, json or yaml")
}

// print prints v: as a table for people, or with all fields and full IDs for programs.
func (f format) print(w io.Writer, v any, table func(*tabwriter.Writer)) error {
	if f == "table" {
		t := tabwriter.NewWriter(sanitizingWriter{w}, 0, 0, 2, ' ', 0)
		table(t)
		return t.Flush()
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
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// secs formats seconds as a duration.
func secs(s float64) string {
	if s == 0 {
		return "-"
	}
	return age(time.Duration(s * float64(time.Second)))
}

// short returns the beginning of an ID, for people.
func short(id string) string { return id[:min(len(id), 8)] }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
