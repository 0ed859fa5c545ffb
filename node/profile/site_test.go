package profile

import (
	"testing"

	"skep/balance"
	"skep/grid"
)

func TestSiteIsReadFromLabels(t *testing.T) {
	class, cluster := grid.Label{Key: LabelClass, Value: "large"}, grid.Label{Key: LabelCluster, Value: "x"}
	os := grid.Label{Key: "os", Value: "linux"}
	if s := SiteOf([]grid.Label{os}, &balance.Site{Class: "small"}); s != nil {
		t.Errorf("labels that say nothing of a site make %+v", s)
	}
	s := SiteOf([]grid.Label{class, cluster, os}, nil)
	if s == nil || *s != (balance.Site{Class: "large", Cluster: "x"}) {
		t.Fatalf("site %+v", s)
	}
	if SiteOf([]grid.Label{class, cluster}, s) != s {
		t.Error("an unchanged site is made anew")
	}
	if other := SiteOf([]grid.Label{cluster}, s); other == s || other.Class != "" || s.Class != "large" {
		t.Errorf("without its class %+v, and what was shared is %+v", other, s)
	}
}
