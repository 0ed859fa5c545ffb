package zygote

// Secrets is where a box has its secrets: a folder in memory that its task can read. Without any it is empty.
const Secrets = Task + "/secrets"

// MaxSecrets bounds the secrets of a box.
const MaxSecrets = 8

// SecretFiles are the secrets of a box in a request. Their contents follow each other in the file that came with it.
type SecretFiles struct {
	SecretPaths Text // the first of SecretCount, in Secrets
	SecretCount uint32
	SecretSizes [MaxSecrets]uint32
}
