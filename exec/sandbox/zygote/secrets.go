package zygote

// Secrets is where a box has its secrets: a folder in memory that its task can read. Without any it is empty.
const Secrets = Task + "/secrets"

// MaxSecrets bounds the secrets of a box.
const MaxSecrets = 8
