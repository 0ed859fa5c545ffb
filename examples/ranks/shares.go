package ranks

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Share is the rows of a rank: From to To, half open.
type Share struct{ From, To int }

// Rows is how many there are.
func (s Share) Rows() int { return s.To - s.From }

// Shares are those of all ranks, in order: by SKEP_SHARES, the number of rows of each with commas between, or equal
// ones.
func (w *World) Shares(rows int) ([]Share, error) {
	shares, next := make([]Share, w.Size), 0
	words := strings.Split(os.Getenv("SKEP_SHARES"), ",")
	if os.Getenv("SKEP_SHARES") != "" && len(words) != w.Size {
		return nil, fmt.Errorf("SKEP_SHARES has %d shares: want one for each of %d ranks", len(words), w.Size)
	}
	for r := range shares {
		count := (rows*(r+1))/w.Size - rows*r/w.Size
		if os.Getenv("SKEP_SHARES") != "" {
			n, err := strconv.Atoi(strings.TrimSpace(words[r]))
			if err != nil || n < 0 {
				return nil, fmt.Errorf("SKEP_SHARES: share %q of rank %d: want a number of rows", words[r], r)
			}
			count = n
		}
		shares[r] = Share{next, next + count}
		next += count
	}
	if next != rows {
		return nil, fmt.Errorf("SKEP_SHARES: %d rows: want all %d of the mesh", next, rows)
	}
	return shares, nil
}
