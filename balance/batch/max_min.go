package batch

// MaxMin places the task with the largest completion time first: argmax C_i [1].
func MaxMin(k *Kind, age float64) priority { return priority{value: k.first / age} }
