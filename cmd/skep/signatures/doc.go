// Package signatures shows what the signatures of a job prove of how its tasks ended: skep job describe --verify.
package signatures
