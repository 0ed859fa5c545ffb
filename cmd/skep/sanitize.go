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

// sanitize makes a message safe for a terminal and a journal: printable line by line, and without tokens.
func sanitize(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = grid.Clean(l, len(l))
	}
	return redact(strings.Join(lines, "\n"))
}

// redact removes join tokens, and the credentials of URLs.
func redact(text string) string { return wire.Hide(credentials.ReplaceAllString(text, "$1…@")) }

// sanitizingWriter makes output for people printable, line by line. Each write must hold whole runes, as those of
// tabwriter do.
type sanitizingWriter struct{ io.Writer }

// Write writes p, sanitized if needed.
func (w sanitizingWriter) Write(p []byte) (int, error) {
	text := p
	if !printableLines(p) {
		text = []byte(sanitize(string(p)))
	}
	if _, err := w.Writer.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// newLog returns a node's log for w, written to through, which passes it on. Attributes may come from a peer, so they
// are sanitized.
func newLog(w, through io.Writer, level slog.Level) *slog.Logger {
	return slog.New(tint.NewTextHandler(through, &tint.Options{Level: level, TimeFormat: time.TimeOnly,
		NoColor: !isTerminal(w), ReplaceAttr: sanitizeAttr}))
}

func sanitizeAttr(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(sanitizeLine(v))
	case error:
		a.Value = slog.StringValue(sanitizeLine(v.Error()))
	case slog.Level:
	case fmt.Stringer:
		if a.Value.Kind() == slog.KindAny {
			a.Value = slog.StringValue(sanitizeLine(v.String()))
		}
	}
	return a
}

func sanitizeLine(text string) string { return redact(grid.Clean(text, len(text))) }

// escapeUnprintable writes unprintable runes in JSON as escapes: programs read the same, and a terminal does not
// interpret them.
func escapeUnprintable(b []byte) []byte {
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

// printableLines reports whether a text of several lines is printable.
func printableLines(b []byte) bool {
	for l := range bytes.Lines(b) {
		if !grid.Printable(string(bytes.TrimSuffix(l, []byte("\n")))) {
			return false
		}
	}
	return true
}

// quoted quotes a path for a shell.
func quoted(s string) string {
	if !strings.ContainsAny(s, " '\"\\$&|;<>()*?[]#~`!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
