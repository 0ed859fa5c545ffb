package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"skep/cmd/skep/members"
	"skep/grid"
	"skep/node"
	"skep/node/p2p"
	"skep/node/p2p/wire"
)

// stdinName is the name of the standard input.
const stdinName = "-"

// maxJoin bounds a file of tokens, and a line of the standard input, in bytes.
const maxJoin = 64 << 10

// readJoin replaces the names of files, and - for the standard input, by the tokens in them, and reads the root key.
func (a *app) readJoin(n *nodeSettings, log *slog.Logger) error {
	if config := filepath.Join(a.folder(), configName); n.inConfig {
		if info, err := os.Stat(config); err == nil {
			warnReadable(config, info, log)
		}
	}
	for i, t := range n.Join {
		if t != stdinName {
			continue
		}
		line, err := a.readToken()
		if err != nil {
			return fmt.Errorf("join -: %w", err)
		}
		n.Join[i] = line
	}
	for _, name := range n.joinFiles {
		tokens, err := readTokens(name, log)
		if err != nil {
			return fmt.Errorf("join-file %s: %w", name, err)
		}
		n.Join = append(n.Join, tokens...)
	}
	if n.rootFile != "" {
		var err error
		if n.RootKey, err = members.RootKey(n.rootFile); err != nil {
			return err
		}
	}
	return nil
}

// readToken reads a token from a line of the standard input.
func (a *app) readToken() (string, error) {
	if isTerminal(a.in) {
		fmt.Fprint(a.err, "paste what skep node token printed: ")
	}
	line, err := bufio.NewReader(io.LimitReader(a.in, maxJoin)).ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return "", errors.New("the standard input holds no token: want a line with what skep node token prints")
	}
	_, _, err = wire.ParseJoin(line)
	return line, err
}

// readTokens reads the tokens in a file: each begins with skep, and may be broken over lines.
func readTokens(name string, log *slog.Logger) (tokens []string, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("is not there: want a file with what skep node token prints; " +
			"a folder that has joined needs none")
	}
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		warnReadable(name, info, log)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxJoin+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxJoin {
		return nil, fmt.Errorf("has more than %d bytes: want what skep node token prints", maxJoin)
	}
	for _, word := range strings.Fields(string(b)) {
		if k := len(tokens); k == 0 || strings.HasPrefix(strings.ToLower(word), "skep") {
			tokens = append(tokens, word)
		} else {
			tokens[k-1] += word
		}
	}
	if len(tokens) == 0 {
		return nil, errors.New("is empty: want what skep node token prints")
	}
	for _, t := range tokens {
		if _, _, err := wire.ParseJoin(t); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

// warnReadable logs a warning if others can read a file with a token.
func warnReadable(name string, info fs.FileInfo, log *slog.Logger) {
	if readableByOthers(info) {
		log.Warn("a file with a join token can be read by others: want mode 0600",
			"file", name, "mode", fmt.Sprintf("%#o", info.Mode().Perm()))
	}
}

// readableByOthers reports whether others can read a file that holds a secret.
func readableByOthers(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0
}

// openNode starts the node. With --new-identity it is a new one in its folder, which joins the members that the folder
// knew if no token says otherwise.
func (a *app) openNode(ctx context.Context, n *nodeSettings, log *slog.Logger) (*p2p.Driver, error) {
	if a.newIdentity {
		renewed, err := p2p.Renew(n.DataDir, false)
		if err != nil {
			return nil, err
		}
		if !renewed {
			log.Warn("the data folder has got its own identity before and keeps it: start without --new-identity",
				"folder", n.DataDir)
		}
	}
	join := n.Join
	if err := rejoin(n, join); err != nil {
		return nil, err
	}
	d, err := p2p.Open(ctx, n.Config)
	if !a.newIdentity || a.record != "" || !errors.Is(err, p2p.ErrCopied) && !errors.Is(err, p2p.ErrPutBack) {
		return d, err
	}
	log.Warn("the data folder gets another identity once more", "reason", err)
	if _, err := p2p.Renew(n.DataDir, true); err != nil {
		return nil, err
	}
	if err := rejoin(n, join); err != nil {
		return nil, err
	}
	return p2p.Open(ctx, n.Config)
}

// rejoin has a node whose folder got another identity join the members that the folder knew, if it is told of none.
func rejoin(n *nodeSettings, join []string) error {
	token, err := p2p.Rejoin(n.DataDir)
	if err == nil && len(join) == 0 && token != "" {
		n.Join = []string{token}
	}
	return err
}

// meetTimeout bounds the wait for a first member: a joining node is ready when it is connected.
const meetTimeout = 5 * time.Second

// awaitMember waits until a member is connected whose ad is known.
func awaitMember(ctx context.Context, d *p2p.Driver) bool {
	ctx, stop := context.WithTimeout(ctx, meetTimeout)
	defer stop()
	for {
		known := false
		err := d.Read(ctx, func(n *node.Node, now grid.Time) {
			for _, p := range n.Peers(now, nil) {
				known = known || p.Connected && !p.Self
			}
		})
		if known {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(20 * time.Millisecond):
		}
		if err != nil {
			return false
		}
	}
}
