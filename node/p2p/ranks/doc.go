// Package ranks keeps what the ranks of a gang on this node share: the pod with the network, the user and /dev/shm that
// they have in common, and this node's part in the network between the nodes of the attempt.
//
// The idea: the first rank of an attempt that starts here makes it, by the places that the job's owner told, and the
// others take it. It stays while the node has a rank of the attempt that its owner has not dropped: what a rank sent
// before its end is still in the kernel's queues of the pod, and owners drop the ranks of a gang when all have ended.
// The user is given back when the folders of all ranks are removed. Each attempt has a pod and an identity in package
// mesh of its own, so that ranks of two attempts never meet.
package ranks
