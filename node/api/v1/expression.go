package v1

import (
	"errors"
	"fmt"

	"skep/grid"
	"skep/requirement"
)

// expressions sets what the job requires of nodes, and how it ranks them.
func (s *Spec) expressions(g *grid.JobSpec) error {
	where, err := ParseExpression("needs.where", s.Needs.Where, requirement.Where)
	if g.Needs.Where = where; where != nil {
		g.Needs.AddFeature(grid.RequirementLabel)
	}
	rank, bad := ParseExpression("rank", s.Rank, requirement.Rank)
	g.Rules.Rank = rank
	return errors.Join(err, bad)
}

// setExpressions is the inverse of expressions, but for the label.
func (s *Spec) setExpressions(g *grid.JobSpec) {
	s.Needs.Where, s.Rank = ExpressionText(g.Needs.Where), ExpressionText(g.Rules.Rank)
}

// ParseExpression parses the expression of a field; "" is none. An error names the field.
func ParseExpression(field, text string, use requirement.Use) (*requirement.Expression, error) {
	if text == "" {
		return nil, nil
	}
	x, err := requirement.Parse(text, use)
	if err != nil {
		return nil, fmt.Errorf("%s %w", field, err)
	}
	return x, nil
}

// ExpressionText is the text of an expression; "" of none.
func ExpressionText(x *requirement.Expression) string {
	if x == nil {
		return ""
	}
	return x.String()
}
