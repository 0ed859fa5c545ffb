package batch

// DFPLTF is dynamic fastest processor to largest task first [3]: the largest task goes to the node that completes it
// first, and what has not begun is placed anew at each mapping event. The source knows sizes in instructions; here the
// size is the execution time on the node that is fastest for the task, which orders tasks alike where nodes differ by
// their speeds alone. Max-min differs in that it weighs by the completion time, which grows with what is placed.
func DFPLTF(k *Kind, age float64) priority { return priority{value: k.size / age} }
