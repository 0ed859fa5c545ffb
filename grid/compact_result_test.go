package grid

import (
	"reflect"
	"testing"
)

// A compact result holds all of a result, whatever it has.
func TestCompactResultIsWhole(t *testing.T) {
	plain := Result{Cause: Exited, Exit: 3, Waited: 1, Wall: 2, CPU: 4, MaxRSS: 5}
	all := []*Result{nil, &plain, {}}
	for _, change := range []func(*Result){
		func(r *Result) { r.Cause = 0 },
		func(r *Result) { r.Error = "lost" },
		func(r *Result) { r.Stdout.Inline = []byte("x") },
		func(r *Result) { r.Stdout.Blob[3] = 1 },
		func(r *Result) { r.Stderr.Size = 1 },
		func(r *Result) { r.Stderr.Dropped = 1 },
		func(r *Result) { r.Outputs = []File{{Path: "a"}} },
		func(r *Result) { r.Next = "b" },
		func(r *Result) { r.LastLine = "no such file" },
		func(r *Result) { r.Option = 2 },
		func(r *Result) { r.Proof = "signed" },
	} {
		r := plain
		change(&r)
		all = append(all, &r)
	}
	for _, r := range all {
		b := r.Compact()
		if got := b.Result(); !reflect.DeepEqual(got, r) || b.None() != (r == nil) {
			t.Errorf("of %+v comes %+v", r, got)
		}
	}
	fields := reflect.TypeFor[Result]().NumField()
	if fields != 14 {
		t.Errorf("a result has %d fields: want each new one in a CompactResult, or kept whole", fields)
	}
}
