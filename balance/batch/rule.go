package batch

// Rule is a heuristic's choice: the task of the kind of the highest priority is placed next; of equal ones that of the
// first kind. age is the ageing factor of the kind's oldest task, from leastAgeing to 1.
type Rule func(k *Kind, age float64) priority

// priority is compared by level first.
type priority struct{ level, value float64 }

func (p priority) above(q priority) bool {
	return p.level > q.level || p.level == q.level && p.value > q.value
}
