package listing

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"skep/grid"
)

// Bounds of a list and of what is asked for one.
const (
	MaxRows    = 1000             // jobs of a list, and of what one node tells
	MaxPattern = 2 * grid.MaxName // bytes of a pattern: every byte of a name may be quoted
	MinPrefix  = 4                // characters of a beginning of an ID
	MaxPrefix  = 16 + 1 + 52      // characters of a whole ID
)

// Query selects jobs. The zero value of each field but Limit selects all.
type Query struct {
	Limit  int // at most so many, 1 to MaxRows: the newest
	States States
	Since  int64  // submitted then or later, in Unix nanoseconds
	Name   string // a shell pattern of the whole name
	// Ref is a person's reference to a job: the beginning of its ID, or its whole name.
	Ref string
	// Submitter is who submitted it. Only the node that it names can be asked for that.
	Submitter grid.Submitter
}

// Check returns an error if no node could answer the query.
func (q *Query) Check() error {
	switch {
	case q.Limit < 1 || q.Limit > MaxRows:
		return fmt.Errorf("limit %d: want 1 to %d", q.Limit, MaxRows)
	case q.States >= 1<<states:
		return fmt.Errorf("states %#x: want some of %s", uint8(q.States), (States(1)<<states - 1).String())
	case q.Since < 0:
		return errors.New("since: want a time after 1970")
	case len(q.Name) > MaxPattern:
		return fmt.Errorf("name: a pattern of %d bytes: want at most %d", len(q.Name), MaxPattern)
	case len(q.Ref) > grid.MaxName:
		return fmt.Errorf("job: a reference of %d bytes: want at most %d", len(q.Ref), grid.MaxName)
	case !grid.Printable(q.Name) || !grid.Printable(q.Ref):
		return fmt.Errorf("name %+.80q: want printable text", q.Name+q.Ref)
	}
	return CheckPattern(q.Name)
}

// CheckPattern returns an error if a text is no shell pattern.
func CheckPattern(pattern string) error {
	if _, err := path.Match(plain(pattern), ""); err != nil {
		return fmt.Errorf("name pattern %.80q: want a shell pattern of *, ? and [a-z], with a backslash before each of "+
			"these that is meant as it is", pattern)
	}
	return nil
}

// plain takes from a slash what it means in paths: a name has no folders.
func plain(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

// selects reports whether a row is among those that the query selects, but for its state.
func (q *Query) selects(r *Row) bool {
	if r.Submitted < q.Since || q.Ref != "" && !IsPrefix(q.Ref, r.ID) && q.Ref != r.Name {
		return false
	}
	if q.Submitter != (grid.Submitter{}) && q.Submitter != r.Submitter {
		return false
	}
	if q.Name == "" {
		return true
	}
	fits, err := path.Match(plain(q.Name), plain(r.Name))
	return err == nil && fits
}

// Tells reports whether a node that is asked tells of a job. Whether its state is one of those selected is for whoever
// has the newest word: the node tells of a job that it does not decide about whatever state it has there.
func (q *Query) Tells(r *Row) bool {
	return q.selects(r) && (q.States.Has(r.State()) || !r.Leads && !r.Over())
}

// Prefix is a beginning of a job's ID: of its nonce, and after a hyphen of its origin.
type Prefix struct{ Nonce, Origin string }

// ParsePrefix parses the beginning of an ID, of MinPrefix characters or more.
func ParsePrefix(text string) (Prefix, bool) {
	nonce, origin, _ := strings.Cut(text, "-")
	letters := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '2' && r <= '7') })
	}
	ok := len(nonce) >= MinPrefix && len(nonce) <= 16 && len(origin) <= 52 && letters(nonce) && letters(origin)
	return Prefix{nonce, origin}, ok
}

// Fits reports whether an ID begins so.
func (p Prefix) Fits(id grid.JobID) bool {
	return strings.HasPrefix(id.NonceText(), p.Nonce) && strings.HasPrefix(id.Origin.String(), p.Origin)
}

// IsPrefix reports whether a text is the beginning of an ID.
func IsPrefix(text string, id grid.JobID) bool {
	p, ok := ParsePrefix(text)
	return ok && p.Fits(id)
}
