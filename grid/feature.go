package grid

// Feature is something that a node does beyond understanding messages. The numbers are on the wire: never reuse one.
type Feature uint8

// FeatureAccess: the node shows a job under AccessOwner to nobody but who shows the job's capability.
const FeatureAccess Feature = 1

// FeatureSet is a set of features, a bit each.
type FeatureSet uint64

// AllFeatures is what this version of Skep does.
const AllFeatures = FeatureSet(1 << FeatureAccess)

// Has reports whether f is in the set.
func (s FeatureSet) Has(f Feature) bool { return s&(1<<f) != 0 }
