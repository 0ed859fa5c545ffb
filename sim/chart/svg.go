package chart

import (
	"fmt"
	"html"
	"strings"
)

// SVG returns the chart as text.
func (c *Chart) SVG() string {
	var s svg
	fmt.Fprintf(&s,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif">`+"\n",
		width, height, width, height)
	c.draw(&s)
	s.WriteString("</svg>\n")
	return s.String()
}

type svg struct{ strings.Builder }

func (s *svg) box(x, y, w, h float64, colour string) {
	fmt.Fprintf(s, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, w, h, colour)
}

func (s *svg) line(x1, y1, x2, y2 float64, colour string) {
	fmt.Fprintf(s, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
}

func (s *svg) curve(x, y []float64, colour string, dash []float64) {
	pattern := ""
	if len(dash) > 0 {
		pattern = fmt.Sprintf(` stroke-dasharray="%s"`, strings.Trim(fmt.Sprint(dash), "[]"))
	}
	fmt.Fprintf(s, `<polyline fill="none" stroke="%s" stroke-width="1.8"%s points="`, colour, pattern)
	for i := range x {
		fmt.Fprintf(s, "%.1f,%.1f ", x[i], y[i])
	}
	s.WriteString("\"/>\n")
}

func (s *svg) text(x, y float64, a anchor, size float64, upright bool, t string) {
	turn := ""
	if upright {
		turn = fmt.Sprintf(` transform="rotate(-90 %.1f %.1f)"`, x, y)
	}
	fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%g"%s>%s</text>`+"\n", x, y,
		[...]string{"start", "middle", "end"}[a], size, turn, html.EscapeString(t))
}
