package batch

// XSufferage [4] is sufferage between clusters: [Mapper.Clusters], with the rule [Sufferage]. C_i and D_i are the least
// completion in the best and in the second best cluster, and a task waits for its inputs:
//
//	c_ij = max(r_j, f_ij) + e_ij
//
// with f_ij, in seconds, the time until what the node lacks of the inputs is there. What one task has had brought to a
// cluster is there for the next. With one cluster it compares nodes, as sufferage does.

// bring notes that the inputs of kind i are on their way to the cluster of node j.
func (m *Mapper) bring(i, j int) {
	from := &m.kinds[i]
	if from.Fetch == nil || !(from.Fetch[j] > 0) {
		return
	}
	at := from.Fetch[j]
	for h := range m.kinds {
		k := &m.kinds[h]
		if h != i && (k.Input == 0 || k.Input != from.Input) || k.Fetch == nil {
			continue
		}
		for n := range m.nodes {
			if m.nodes[n].Cluster == m.nodes[j].Cluster {
				k.Fetch[n] = min(k.Fetch[n], at)
			}
		}
	}
}
