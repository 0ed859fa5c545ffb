package batch

// QoSMinMin is QoS guided min-min [2]: tasks that few nodes can run are placed first, by min-min among themselves, so
// that those nodes are not taken by tasks that could go elsewhere. The source has two levels, the tasks that need a
// quality of service that not all nodes have, and the rest; here the number of nodes that can run a task is its level,
// which is the same for two.
func QoSMinMin(k *Kind, age float64) priority {
	return priority{level: -float64(k.able), value: -k.first * age}
}
