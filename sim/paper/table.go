package paper

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// record is a line of a CSV file, by the names of its columns.
type record map[string]string

// table reads a CSV file whose first line after comments names the columns.
func table(from fs.FS, name string, each func(record) error) error {
	f, err := from.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var errs []error
	for {
		line, err := r.Read()
		if err == io.EOF {
			return errors.Join(errs...)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		at, _ := r.FieldPos(0)
		rec := record{}
		for k, column := range header {
			rec[column] = line[k]
		}
		if err := each(rec); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, at, err))
		}
	}
}

// number reads a number that is above 0.
func (r record) number(column string) (float64, error) {
	x, err := strconv.ParseFloat(r[column], 64)
	if err != nil || !(x > 0) {
		return 0, fmt.Errorf("%s %q: want a number above 0", column, r[column])
	}
	return x, nil
}

// numbers reads numbers with spaces between.
func (r record) numbers(column string) (out []float64, err error) {
	for _, t := range strings.Fields(r[column]) {
		x, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: want numbers with spaces between", column, t)
		}
		out = append(out, x)
	}
	return out, nil
}

// lengths reads how long something is run, for the full form and the quick one.
func (r record) lengths() (l [2]length, err error) {
	var errs []error
	for k, prefix := range []string{"", "quick_"} {
		if prefix != "" && r[prefix+"time"] == "" {
			continue // too short to tell anything
		}
		t, err := r.number(prefix + "time")
		n, err2 := r.number(prefix + "replications")
		errs = append(errs, err, err2)
		l[k] = length{t, int(n)}
	}
	return l, errors.Join(errs...)
}

// length is how long each of how many replications is.
type length struct {
	time         float64
	replications int
}

// run is a line of runs.csv.
type run struct {
	scenario string
	policies []string
	lengths  [2]length // full, quick
	note     string
}

func (r record) run() (run, error) {
	l, err := r.lengths()
	return run{r["scenario"], strings.Fields(r["policies"]), l, r["note"]}, err
}

// form picks one of two: of the full form and the quick one.
func form[T any](full bool, of [2]T) T {
	if full {
		return of[0]
	}
	return of[1]
}
