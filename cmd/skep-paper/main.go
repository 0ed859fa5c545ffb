package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"skep/sim/paper"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "skep-paper:", err)
		os.Exit(1)
	}
}

// run writes the page of the reports in the files of the command line.
func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("skep-paper", flag.ContinueOnError)
	flags.SetOutput(stderr)
	to := flags.String("o", "-", "the page; - is the standard output")
	flags.Usage = func() {
		fmt.Fprintln(stderr,
			"usage: skep-paper [-o PAGE.html] REPORT.json ...\n\nreports are made by: skep sim paper run NAME --full "+
				"--output json")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return fmt.Errorf("no report: want files that `skep sim paper run NAME --output json` made")
	}
	var reports []*paper.Report
	for _, name := range flags.Args() {
		r, err := read(name)
		if err != nil {
			return err
		}
		reports = append(reports, r...)
	}
	if *to == "-" {
		return write(stdout, reports)
	}
	f, err := os.Create(*to)
	if err != nil {
		return err
	}
	if err := write(f, reports); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// read reads the reports of a file.
func read(name string) (reports []*paper.Report, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &reports); err != nil {
		return nil, fmt.Errorf("%s: %w: want what `skep sim paper run NAME --output json` printed", name, err)
	}
	for k, r := range reports {
		if r == nil || r.Study == "" {
			return nil, fmt.Errorf("%s: entry %d has no study: want what `skep sim paper run NAME --output json` printed", name,
				k)
		}
	}
	return reports, nil
}
