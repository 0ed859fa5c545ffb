package process

import (
	"bytes"
	"io"
	"os"
)

// What the kernel keeps in bytes for each System V object and each message, and for a semaphore: a line of the cache,
// and what any thread may have asked to be undone at its end.
const (
	objectSize    = 256
	messageSize   = 64
	semaphoreSize = 64
	undoSize      = 2
)

// segments is how much memory System V shared memory has, what was swapped out with it: the last two fields of each
// line.
func segments(f *os.File) (sum int64) {
	eachRow(f, 16, func(row []byte) { sum += number(row, 14) + number(row, 15) })
	return sum
}

// semaphores is how much System V semaphores have, the fourth field of a line is how many a set has, where there are so
// many threads.
func semaphores(f *os.File, threads int64) (sum int64) {
	eachRow(f, 10, func(row []byte) { sum += objectSize + number(row, 3)*(semaphoreSize+undoSize*threads) })
	return sum
}

// messages is how much System V message queues have: the fourth and fifth field of a line are their bytes and how many
// they are.
func messages(f *os.File) (sum int64) {
	eachRow(f, 14, func(row []byte) { sum += objectSize + number(row, 3) + number(row, 4)*messageSize })
	return sum
}

// eachRow calls f with each line of a list that has so many fields, but for the first, which names them.
func eachRow(list *os.File, fields int, f func(row []byte)) {
	if list == nil {
		return
	}
	list.Seek(0, io.SeekStart)
	b, err := io.ReadAll(io.LimitReader(list, 16<<20)) // as many as the kernel permits of one kind, 32,768, are less
	if err != nil {
		return
	}
	_, b, _ = bytes.Cut(b, []byte{'\n'})
	for line := range bytes.Lines(b) {
		if len(bytes.Fields(line)) == fields {
			f(line)
		}
	}
}
