package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// recording notes the sizes of what is written.
type recording struct{ sizes []int }

func (r *recording) Write(b []byte) (int, error) {
	r.sizes = append(r.sizes, len(b))
	return len(b), nil
}

// What there is much of is sent in whole pieces, and what comes slowly as it comes.
func TestPieces(t *testing.T) {
	broken := errors.New("broken")
	for _, x := range []struct {
		name string
		in   io.Reader
		want []int
		err  error
	}{
		{"much", bytes.NewReader(make([]byte, 2*pieceSize+1)), []int{pieceSize, pieceSize, 1}, nil},
		{"little", io.MultiReader(bytes.NewReader([]byte("a")), bytes.NewReader([]byte("bc"))), []int{1, 2}, nil},
		{"nothing", bytes.NewReader(nil), nil, nil},
		{"broken", io.MultiReader(bytes.NewReader([]byte("abc")), failing{broken}), []int{3}, broken},
	} {
		var to recording
		if n, err := (pieces{x.in}).WriteTo(&to); !slices.Equal(to.sizes, x.want) || err != x.err || n != sum(x.want) {
			t.Errorf("%s: %d bytes in %v, %v: want %v, %v", x.name, n, to.sizes, err, x.want, x.err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func sum(list []int) (n int64) {
	for _, x := range list {
		n += int64(x)
	}
	return n
}

// The body of a request is not cut smaller on its way: a chunk of HTTP is a piece.
func TestPiecesAreChunks(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, SocketName))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.WriteFile(filepath.Join(dir, TokenName), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	sent := make(chan []byte, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(time.Minute))
		var all []byte
		for b := make([]byte, 1<<20); !bytes.HasSuffix(all, []byte("\r\n0\r\n\r\n")); {
			n, err := c.Read(b)
			if all = append(all, b[:n]...); err != nil {
				break
			}
		}
		sent <- all
		io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
	}()
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := pieces{bytes.NewReader(make([]byte, 3*pieceSize))}
	resp, err := c.do(context.Background(), http.MethodPost, "/x", nil, in, "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if all := <-sent; bytes.Count(all, []byte("1ffc0\r\n")) != 3 {
		t.Errorf("%d chunks of %d bytes: want 3", bytes.Count(all, []byte("1ffc0\r\n")), pieceSize)
	}
}
