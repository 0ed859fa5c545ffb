package batch

// leastAgeing is the least ageing factor.
const leastAgeing = 0.1

// ageing is the factor by which waiting raises a task's priority [1, section 3.2]: a task that is mapped over and over
// may never begin, so its completion time counts for less by
//
//	a = max(0.1, 1 − age/T)
//
// where the least is taken first, and for more by 1/a where the largest is. The source has no formula; this one is the
// notes'. T = 0 is no ageing.
func ageing(age, t float64) float64 {
	if !(t > 0) {
		return 1
	}
	return max(leastAgeing, 1-max(age, 0)/t)
}
