package credentials

import (
	"maps"
	"sync"
	"time"
)

// sayAgain is how long the same is not logged again.
const sayAgain = 10 * time.Minute

// maxSaid bounds what is logged within sayAgain: who has the network's secret alone, and ever new keys, must not fill
// the log.
const maxSaid = 64

// said is what was logged of late. The zero value is ready for use.
type said struct {
	mu sync.Mutex
	at map[string]time.Time
}

// isNew reports whether something is to be logged now.
func (s *said) isNew(what string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.at, func(_ string, at time.Time) bool { return now.Sub(at) >= sayAgain })
	if _, known := s.at[what]; known || len(s.at) >= maxSaid {
		return false
	}
	if s.at == nil {
		s.at = map[string]time.Time{}
	}
	s.at[what] = now
	return true
}
