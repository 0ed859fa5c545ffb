package batch

// Sufferage places the task first that loses most if it does not get its best node: argmax D_i − C_i [1]. A task that
// only one node can run loses all.
func Sufferage(k *Kind, age float64) priority { return priority{value: (k.second - k.first) / age} }
