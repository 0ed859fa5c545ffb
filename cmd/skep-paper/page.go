package main

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"skep/sim/paper"
)

//go:embed page.html
var layout string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"class": func(v paper.Verdict) string { return strings.ReplaceAll(string(v), " ", "-") },
}).Parse(layout))

// study is a report as the page shows it.
type study struct {
	*paper.Report
	Sections []section
	Plots    []figure
}

// section is the numbers of one source.
type section struct {
	Source string
	Lines  []paper.Line
}

// figure is a curve as a picture.
type figure struct {
	Title string
	SVG   template.HTML
}

// write writes the page.
func write(w io.Writer, reports []*paper.Report) error {
	var studies []study
	for _, r := range reports {
		s := study{Report: r}
		for _, l := range r.Lines {
			if n := len(s.Sections); n == 0 || s.Sections[n-1].Source != l.Source {
				s.Sections = append(s.Sections, section{Source: l.Source})
			}
			last := &s.Sections[len(s.Sections)-1]
			last.Lines = append(last.Lines, l)
		}
		for k := range r.Curves {
			// The picture is made here of numbers and names that draw escapes.
			s.Plots = append(s.Plots, figure{r.Curves[k].Title, template.HTML(draw(&r.Curves[k]))})
		}
		studies = append(studies, s)
	}
	return page.Execute(w, studies)
}
