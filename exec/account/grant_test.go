package account

import (
	"strings"
	"testing"

	"skep/grid"
)

// A grant to a user of one node is not had by whoever gives himself that name, or both of them as a name.
func TestAdmits(t *testing.T) {
	node, other := grid.NodeID{7}, grid.NodeID{8}
	var g Grant
	for _, word := range []string{"as=ada", "for=alice@" + node.String(), "for=bob", "for=*@" + grid.NodeID{9}.String()} {
		if err := g.Add(word); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		by   grid.Submitter
		want bool
	}{
		{grid.Submitter{Node: node, User: "alice"}, true},
		{grid.Submitter{Node: other, User: "alice"}, false},
		{grid.Submitter{Node: other, User: "alice@" + node.String()}, false},
		{grid.Submitter{Node: other, User: "bob"}, true},
		{grid.Submitter{Node: node, User: "*"}, false},
		{grid.Submitter{Node: grid.NodeID{9}}, true},
		{grid.Submitter{}, false},
	} {
		if got := g.Admits(&c.by); got != c.want {
			t.Errorf("%q of %s: %v", c.by.User, c.by.Node.Short(), got)
		}
	}
	if !(&Grant{}).Admits(&grid.Submitter{}) {
		t.Error("without an account there is nothing to be granted")
	}
	want := "as=ada for=alice@" + node.String() + " for=bob for=*@" + grid.NodeID{9}.String()
	if got := strings.Join(g.Words(), " "); got != want {
		t.Errorf("%s: want %s", got, want)
	}
}
