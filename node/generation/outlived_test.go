package generation

import "testing"

// What a process said that stopped for this one is told from what others said, also after it was written and read.
func TestOutlived(t *testing.T) {
	var o Outlived
	if o.Boot() != 0 || len(o.Append(nil)) != 0 {
		t.Error("something of nothing")
	}
	if !o.Note(Statement{9, 90, 5}) || !o.Note(Statement{8, 80, 5}) || o.Note(Statement{9, 90, 7}) {
		t.Error("what is news is not, or what is known is")
	}
	read := ReadOutlived(o.Append(nil))
	for _, o := range []*Outlived{&o, &read} {
		for s, want := range map[Statement]bool{{9, 90, 500}: true, {8, 80, 1}: true, {9, 91, 5}: false, {8, 90, 5}: false} {
			if o.Made(s) != want {
				t.Errorf("%+v: made %v, want %v", s, o.Made(s), want)
			}
		}
		if o.Boot() != 9 {
			t.Errorf("%d starts, want 9", o.Boot())
		}
	}
	if !o.Forget(90) || o.Forget(90) || o.Made(Statement{9, 90, 5}) || o.Boot() != 8 {
		t.Error("forgotten, and still there")
	}
	if o := ReadOutlived([]byte("short")); o.Boot() != 0 {
		t.Error("read from what is no process")
	}
}

// However many there are, those of the most starts are kept: these are what peers show.
func TestOutlivedIsBounded(t *testing.T) {
	var o Outlived
	for i := range uint64(3 * MaxOutlived) {
		o.Note(Statement{Boot: i ^ 1, Instance: i})
	}
	if o.Note(Statement{1, 999, 0}) {
		t.Error("one of few starts is kept where there is no place")
	}
	for i := range uint64(3 * MaxOutlived) {
		if want := i >= 2*MaxOutlived; o.Made(Statement{Boot: i ^ 1, Instance: i}) != want {
			t.Errorf("process %d: kept %v, want %v", i, !want, want)
		}
	}
	if len(o.Append(nil)) != MaxOutlived*processSize || o.Boot() != 3*MaxOutlived-1 {
		t.Errorf("%d bytes, %d starts", len(o.Append(nil)), o.Boot())
	}
}
