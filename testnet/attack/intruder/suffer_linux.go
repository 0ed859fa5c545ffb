package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"skep/testnet/attack/world"
)

// suffer is what is attacked: a process with a secret in its memory. Its arguments are a mark, an address of the
// harness and, for a sibling, nothing more. It tells the harness where in memory the secret is, gets told it, and ends
// well when the harness closes the connection; then it says how many signals it had.
func suffer(role string, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s: want a mark and an address", role)
	}
	network := "tcp"
	if strings.HasPrefix(args[1], "/") {
		network = "unix"
	}
	c, err := net.DialTimeout(network, args[1], 10*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	urgent := make(chan os.Signal, 100)
	signal.Notify(urgent, syscall.SIGURG)
	secret := make([]byte, len(world.SecretPrefix)+world.SecretLength)
	fmt.Fprintf(c, "%d %d\n", os.Getpid(), uintptr(unsafe.Pointer(&secret[0])))
	r := bufio.NewReader(c)
	if _, err := io.ReadFull(r, secret); err != nil {
		return err
	}
	if role == "sibling" {
		if err := os.WriteFile("private", secret, 0o666); err != nil {
			return err
		}
		fmt.Fprintln(c, "ready")
	}
	if _, err := r.ReadByte(); err != io.EOF {
		return fmt.Errorf("from the harness: %w", err)
	}
	if world.FindSecret(secret) == "" {
		return fmt.Errorf("the memory of the %s was changed", role)
	}
	fmt.Println("ended well, signals:", len(urgent))
	return nil
}

// linger is a process that nothing but SIGKILL ends, for a while.
func linger() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	if n, err := strconv.Atoi(os.Getenv("ATTACK_FILL")); err == nil {
		touch(n, -1, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	}
	time.Sleep(2 * time.Minute)
}
