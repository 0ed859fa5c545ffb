package grid

// Feature is a capability of a node beyond understanding message kinds. The numbers are on the wire: never reuse one.
type Feature uint8

// FeatureAccess: the node shows a job under AccessOwner only to a client that presents the job's capability.
const FeatureAccess Feature = 1

// FeatureLevels: the node knows the finer levels of classes (LevelOf), and may be polled for them. Number 2 said the
// same of levels with another mark.
const FeatureLevels Feature = 3

// FeatureSet is a set of features, a bit each.
type FeatureSet uint64

// AllFeatures are the features of this version of Skep.
const AllFeatures = FeatureSet(1<<FeatureAccess | 1<<FeatureLevels)

// Has reports whether f is in the set.
func (s FeatureSet) Has(f Feature) bool { return s&(1<<f) != 0 }
