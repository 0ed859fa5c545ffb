package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"skep/node/api/client"
	"skep/node/p2p/wire"
)

// forms returns the representations in which a secret of 32 bytes could be printed, each in pieces long enough to
// reveal it.
func forms(secret []byte) (all []string) {
	text := hex.EncodeToString(secret)
	for i := 0; i+16 <= len(text); i += 16 {
		all = append(all, text[i:i+16])
	}
	for i := 0; i+8 <= len(secret); i += 8 {
		all = append(all, string(secret[i:i+8]), fmt.Sprintf("%#x", binary.LittleEndian.Uint64(secret[i:])),
			strings.Trim(fmt.Sprint(secret[i:i+8]), "[]"))
	}
	var words []string // as a traceback prints an array argument
	for _, b := range secret[:8] {
		words = append(words, fmt.Sprintf("%#x", b))
	}
	return append(all, base64.StdEncoding.EncodeToString(secret)[:12], strings.Join(words, ", "))
}

// secretsOf returns a node's secrets: the network's secret, its join token, its key, and the token of its API.
func secretsOf(t *testing.T, m *member) []string {
	t.Helper()
	token, err := wire.ParseToken(m.join)
	if err != nil {
		t.Fatal(err)
	}
	all := append(forms(token.Secret[:]), m.join[6:26], m.join[len(m.join)-30:])
	for _, name := range []string{"identity", "secret", client.TokenName} {
		text, err := os.ReadFile(filepath.Join(m.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, forms(b)...)
	}
	return all
}

func checkHidden(t *testing.T, what, text string, secrets []string) {
	t.Helper()
	for _, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("%s holds %q of a secret:\n%.3000q", what, s, text)
			return
		}
	}
}

// The join token was visible in the process list as long as a node ran, and in its journal.
func TestSecretsAreNotVisible(t *testing.T) {
	t.Parallel()
	rec := filepath.Join(t.TempDir(), "recording")
	first := startMember(t, "skep", "", "--log-level", "debug", "--record", rec)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(first.join+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ms := []*member{first}
	for _, args := range [][]string{{"--join", first.join}, {"--join=" + first.join},
		{"--join=" + strings.ToUpper(first.join)}, {"--join-file", file}} {
		ms = append(ms, startMember(t, "skep", "", append(args, "--log-level", "debug", "--name", "late")...))
	}
	awaitMembers(t, ms)
	first.run(t, "", "run", "--count", "20", "--", "sh", "-c", "echo $SKEP_INDEX")
	for i, m := range ms {
		secrets := secretsOf(t, m)
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", m.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		checkHidden(t, "the command line", strings.ToLower(string(line)), secrets)
		if words := strings.Split(string(line), "\x00"); i > 0 && !slices.Contains(words, "late") ||
			!slices.Contains(words, "debug") {
			t.Errorf("command line %q: want all else as it was", words)
		}
		checkHidden(t, "standard output", m.stderr.String(), secrets)
		checkHidden(t, "the settings", m.run(t, "", "config", "show", "--output", "json"), secrets)
		checkHidden(t, "an error", m.run(t, "", "node", "list", "--output", "json"), secrets)
	}
	// A crash prints every goroutine with its arguments.
	crashed := ms[1]
	secrets := secretsOf(t, crashed)
	if err := crashed.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = crashed.cmd.Wait()
	if s := crashed.log.String(); !strings.Contains(s, "goroutine ") {
		t.Errorf("no crash: %.2000s", s)
	}
	for _, m := range ms {
		m.stop()
		checkHidden(t, "the log", strings.ToLower(m.log.String()), secrets)
	}
	b, err := os.ReadFile(rec)
	if err != nil || len(b) < 1000 {
		t.Fatalf("a recording of %d bytes, %v", len(b), err)
	}
	checkHidden(t, "the recording", string(b), secretsOf(t, first))
}

func TestTokenIn(t *testing.T) {
	token := "skep1-" + strings.Repeat("a2", 40)
	for _, c := range []struct {
		args []string
		want string // of the last one
	}{
		{[]string{"up", "--join", token}, token}, {[]string{"up", "--join=" + token}, token},
		{[]string{"up", "--join", "skep1 - a b"}, "skep1 - a b"},
		{[]string{"up", "--join=half a token"}, "half a token"}, {[]string{"up", "--join", "-"}, ""},
		{[]string{"up", "--join", "--no-mdns"}, ""}, {[]string{"up", "--name", "anthill"}, ""},
		{[]string{"node", "token", token}, token}, {[]string{"run", "--", "echo " + token + "!"}, token},
		{[]string{"--join-file", "file"}, ""},
	} {
		last := c.args[len(c.args)-1]
		if from, to := tokenIn(c.args, len(c.args)-1); last[from:to] != c.want {
			t.Errorf("%q: %q is blanked, want %q", c.args, last[from:to], c.want)
		}
	}
}
