//go:build amd64 || arm64

package zygote

import "testing"

// The forker has room for so many children, finds each by its process ID, and uses a place again that is free.
func TestChildrenAreBounded(t *testing.T) {
	defer func() { children, childless = [maxChildren]child{}, 0 }()
	for i := range maxChildren {
		place := childAt(0)
		if place != i {
			t.Fatalf("child %d gets place %d", i, place)
		}
		note(place, uint64(i)+100, i+1)
	}
	if place := childAt(0); place != -1 {
		t.Errorf("one too many gets place %d", place)
	}
	if place := childAt(8000); place != 7999 || children[place].id != 8099 {
		t.Errorf("child 8000 is at %d: %+v", place, children[max(place, 0)])
	}
	forget(7999)
	if gone, free := childAt(8000), childAt(0); gone != -1 || free != 7999 {
		t.Errorf("a child that was forgotten is at %d, its place is %d", gone, free)
	}
	for i := range maxChildren {
		forget(maxChildren - 1 - i)
	}
	if childless != 0 {
		t.Errorf("%d places are looked at, and there is no child", childless)
	}
}
