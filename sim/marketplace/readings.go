package marketplace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"skep/balance/market"
	"skep/document"
)

// Readings settle what [1] leaves open. The zero value is what a good matcher does, not what its author's did.
type Readings struct {
	Deadlines market.Judged // by what those of tasks that are to move are judged

	// LastNews makes the bid that a server executes what its last update said ("apply the new state of offer o"
	// [1, appendix A.2]), though a task that outbids it is on its way there. Else the matcher remembers that task.
	LastNews bool

	// DropLate ends a suspended task whose deadline has passed where its query waits at the matcher, which drops queries
	// that are late [1, appendix A.2], as under all protocols with migration. Else it may resume where it is.
	DropLate bool

	// WholeCapacity divides the revenue from which a reserve price follows by all that the server could do, with what the
	// background took. Else by what it offered.
	WholeCapacity bool

	// PaysLate pays for a result that comes after its deadline, too. Else the server gets nothing, as [1, section 6.3] has
	// it.
	PaysLate bool

	// JudgeRunning judges tasks that are to move while they run by their deadlines, too, as Deadlines says. Else they move
	// though they will be late.
	JudgeRunning bool

	// EqualByBid gives a server, where tasks are ordered by value, the one that bids most of those that would deliver
	// equally much there, as those that would deliver nothing: bids order what waits under CDA, of which the order by
	// value is a change [1, section 6.5.3]. Else it gets the one that came first.
	EqualByBid bool
}

// words are how a reading is written in a file: the first is the zero value.
var words = map[string][]string{
	"deadlines": {"left", "whole", "none"},
	"news":      {"remembered", "last"},
	"late":      {"kept", "dropped"},
	"revenue":   {"offered", "capacity"},
	"paid":      {"on_time", "all"},
	"running":   {"free", "judged"},
	"equal":     {"arrival", "bid"},
}

// readings reads a system's readings.
func (r *reader) readings(x *Readings, n ast.Node) {
	take := func(set func(int)) func(document.Entry) {
		return func(e document.Entry) {
			r.Value(e, func(t string) error {
				k := slices.Index(words[e.Key], t)
				if k < 0 {
					return fmt.Errorf("%.40q: want %s", t, strings.Join(words[e.Key], " or "))
				}
				set(k)
				return nil
			})
		}
	}
	r.mapping(n, "readings", []string{"deadlines", "news", "late", "revenue", "paid", "running", "equal"}, keys{
		"deadlines": take(func(k int) { x.Deadlines = market.Judged(k) }),
		"news":      take(func(k int) { x.LastNews = k == 1 }),
		"late":      take(func(k int) { x.DropLate = k == 1 }),
		"revenue":   take(func(k int) { x.WholeCapacity = k == 1 }),
		"paid":      take(func(k int) { x.PaysLate = k == 1 }),
		"running":   take(func(k int) { x.JudgeRunning = k == 1 }),
		"equal":     take(func(k int) { x.EqualByBid = k == 1 })})
}
