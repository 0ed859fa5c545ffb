package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lmittmann/tint"

	"skep/grid"
	"skep/node/p2p/wire"
)

// shown makes an error or a message fit for a terminal and for a journal: printable line by line, and without tokens.
func shown(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = grid.Clean(l, len(l))
	}
	return hide(strings.Join(lines, "\n"))
}

// hide leaves out join tokens, and the credentials of URLs.
func hide(text string) string { return wire.Hide(credentials.ReplaceAllString(text, "$1…@")) }

// shownWriter makes what is printed for people printable, line by line. Each write holds whole runes, as those of
// tabwriter do.
type shownWriter struct{ io.Writer }

// Write writes p, or what of it can be shown.
func (w shownWriter) Write(p []byte) (int, error) {
	text := p
	if !printableLines(p) {
		text = []byte(shown(string(p)))
	}
	if _, err := w.Writer.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// newLog is the log of a node. What stands in a line may come from a peer.
func newLog(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: time.TimeOnly,
		NoColor: !isTerminal(w), ReplaceAttr: shownAttr}))
}

func shownAttr(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(shownLine(v))
	case error:
		a.Value = slog.StringValue(shownLine(v.Error()))
	case slog.Level:
	case fmt.Stringer:
		if a.Value.Kind() == slog.KindAny {
			a.Value = slog.StringValue(shownLine(v.String()))
		}
	}
	return a
}

func shownLine(text string) string { return hide(grid.Clean(text, len(text))) }

// escaped writes runes that are not printable in JSON as escapes: programs read the same, and a terminal does not obey
// them.
func escaped(b []byte) []byte {
	if printableLines(b) {
		return b
	}
	var out []byte
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == '\n' || grid.Printable(string(r)):
			out = append(out, b[:n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		b = b[n:]
	}
	return out
}

// printableLines reports whether a text of several lines can be shown as it is.
func printableLines(b []byte) bool {
	for l := range bytes.Lines(b) {
		if !grid.Printable(string(bytes.TrimSuffix(l, []byte("\n")))) {
			return false
		}
	}
	return true
}
