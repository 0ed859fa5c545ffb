// Package listing is the list of a grid's jobs as one node puts it together from what others tell: which jobs a request
// selects, and whose word about a job counts where several nodes tell of it.
//
// Each node tells of the jobs in its registers: those that it owns, those that were submitted to it, and those of which
// it keeps a replica. So a job is told of by up to grid.MaxMembers nodes, and a job of a node that is gone still by the
// members of its register. A job's ID names its origin, whose word comes first: about itself, or about which node owns
// the job by now. Then comes that owner's word, and then, where these do not answer, that of a replica, which may be
// behind. What a node invents about another's job is dropped where the origin answers, and where the register's members
// are known and it is none of them.
package listing
