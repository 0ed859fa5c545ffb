package api

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/p2p/blob"
)

// In a full folder, a job has one input that is stored, least recently used, and one that is uploaded: neither
// evicts the other, nor is evicted by further uploads.
func TestInputsAreHeldUntilTheSubmission(t *testing.T) {
	f := newFake(t, 1, "alpha")
	store, err := blob.Open(t.TempDir(), 100)
	if err != nil {
		t.Fatal(err)
	}
	f.store = store
	url := f.serve().URL
	content := func(c string) (string, string) {
		text := strings.Repeat(c, 40)
		return fmt.Sprintf("%x", sha256.Sum256([]byte(text))), text
	}
	put := func(c string) int {
		hash, text := content(c)
		status, _ := ask(t, http.MethodPut, url+"/v1/blobs/"+hash, text)
		return status
	}
	for _, c := range []string{"a", "x"} { // of a former run
		if _, _, err := store.Put(t.Context(), strings.NewReader(strings.Repeat(c, 40)), grid.KiB, true); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := content("a")
	b, _ := content("b")
	if status, _ := ask(t, http.MethodHead, url+"/v1/blobs/"+a, ""); status != http.StatusOK {
		t.Fatalf("the first input is not here: status %d", status)
	}
	if status := put("b"); status != http.StatusOK {
		t.Fatalf("the second input: status %d", status)
	}
	if status := put("c"); status != http.StatusUnprocessableEntity {
		t.Errorf("what does not fit beside them: status %d: want 422", status)
	}
	submit(t, url, "bcde",
		`,"inputs":[{"path":"a","blob":"`+a+`","size_bytes":40},{"path":"b","blob":"`+b+`","size_bytes":40}]`)
}
