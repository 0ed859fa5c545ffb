package child

import (
	"net/http"
	"testing"
	"time"

	v1 "skep/node/api/v1"
)

// A node whose child grid does not answer takes no tasks, also while it has none, and takes some again when it answers.
func TestNodeIsClosedWhileTheChildIsAway(t *testing.T) {
	f := &fakeGrid{jobs: map[string]*v1.Job{}, refuses: map[string]int{}}
	away := make(chan bool, 10)
	f.openWith(t, Options{Dir: t.TempDir(), Survey: 20 * time.Millisecond, Away: func(x bool) { away <- x }})
	for _, want := range []bool{true, false} {
		f.mu.Lock()
		if delete(f.refuses, "/v1/nodes"); want {
			f.refuses["/v1/nodes"] = http.StatusServiceUnavailable
		}
		f.mu.Unlock()
		select {
		case got := <-away:
			if got != want {
				t.Errorf("away %t: want %t", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("nothing is said in a minute: want away %t", want)
		}
	}
}
