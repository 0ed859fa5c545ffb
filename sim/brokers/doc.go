// Package brokers simulates a grid of clusters as [1] has it: jobs of several classes arrive at the broker of each
// cluster, which asks information services and resources before it sends a job to one of them.
//
// A broker is a decider with a policy of package balance, the same that a node runs. It knows which clusters there
// are and not what their resources are kept for or how loaded they are. To ask it first has the list of a
// cluster's resources from the cluster's information service, which takes its time, and then asks each of them;
// several clusters are asked at the same time. A resource runs one job at a time in the order of arrival and to its
// end. Jobs, their sizes and where they arrive are the same for every policy of a seed.
//
// Sources:
//
//	[1] The thesis on discovering resources and on class based dynamic matching on a computing grid
//	    (chapters 3 and 4); its text names neither author nor year.
//	[2] L. Kleinrock, Queueing Systems, Volume 1: Theory, Wiley, 1975.
package brokers
