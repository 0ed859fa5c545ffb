// Package account is about accounts of the machine as which a node of root runs tasks, and about who may submit such
// tasks: the operator grants an account to submitters, by the name that their node gives them and by that node.
package account
