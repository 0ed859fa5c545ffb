package batch

// MinMin places the task with the least completion time first: argmin C_i [1].
func MinMin(k *Kind, age float64) priority { return priority{value: -k.first * age} }
