// Package unwanted remembers results that came and are not wanted. The sender of each is told so, and an honest one
// then forgets the result: a sender that repeats it many times does so on purpose.
package unwanted
