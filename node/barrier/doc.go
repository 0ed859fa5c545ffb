// Package barrier holds back the answer to a cancel while a worker may still start an attempt of what was cancelled.
//
// A [Barrier] lists the attempts that workers may have. It is lowered when each worker has confirmed that it does not
// have its attempt, or when no start lease can be valid any more. It has no clock: whoever holds it says what time it
// is, sends what it asks for, and checks it again when it says so.
package barrier
