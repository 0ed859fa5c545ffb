package bids

import (
	"fmt"
	"strings"
	"time"

	"skep/document"
	"skep/grid"
	v1 "skep/node/api/v1"
)

// parseDeadline parses the deadline of a job file or a flag: 2h, or 2h,6h where the worth falls in between.
func parseDeadline(text string) (*v1.Deadline, error) {
	at, worthless, soft := strings.Cut(text, ",")
	d := &v1.Deadline{}
	err := parseSpan(at, &d.At)
	if err == nil && soft {
		err = parseSpan(worthless, &d.Worthless)
	}
	if err == nil {
		err = checkDeadline(d)
	}
	return d, err
}

// ReadDeadline reads the deadline of a job file: 2h or {at: 2h, worthless: 6h}. The result is nil if it is not valid.
func ReadDeadline(f *document.Reader, e document.Entry) (d *v1.Deadline) {
	if _, ok := document.Scalar(e.Value); ok {
		f.Value(e, func(t string) (err error) { d, err = parseDeadline(t); return })
		return d
	}
	d = &v1.Deadline{}
	before := f.Invalid()
	for _, x := range f.Mapping(e.Value, "deadline", "at", "worthless") {
		to := &d.At
		if x.Key == "worthless" {
			to = &d.Worthless
		}
		x.Key = "deadline " + x.Key
		f.Value(x, func(t string) error { return parseSpan(t, to) })
	}
	switch err := checkDeadline(d); {
	case f.Invalid() > before:
	case d.At == 0:
		f.At(e.Value, "deadline: has no at: want one, as in {at: 2h, worthless: 6h}")
	case err != nil:
		f.At(e.Value, "deadline %v", err)
	}
	return d
}

func parseSpan(text string, to *float64) error {
	s, err := document.ParseTimeout(text)
	if err != nil || s < 1 {
		return fmt.Errorf("%.40q: want a length of time from 1s to %v, as in 2h", text, grid.MaxDeadline)
	}
	*to = s
	return nil
}

func checkDeadline(d *v1.Deadline) error {
	if d.Worthless > 0 && d.Worthless <= d.At {
		return fmt.Errorf("%v,%v: is worthless before it is over: want the second time longer than the first, as in 2h,6h",
			grid.Seconds(d.At), grid.Seconds(d.Worthless))
	}
	return nil
}

// DeadlineText says what the deadline of a job is that was submitted then.
func DeadlineText(d *v1.Deadline, submitted time.Time) string {
	by := func(s float64) string { return submitted.Add(grid.Seconds(s)).Local().Format(time.DateTime) }
	text := fmt.Sprintf("%v after the submission, %s", grid.Seconds(d.At), by(d.At))
	if d.Worthless > 0 {
		text += fmt.Sprintf("; worthless after %v, %s", grid.Seconds(d.Worthless), by(d.Worthless))
	}
	return text
}
