package api

import (
	"encoding/json"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skep/node/api/client"
	"skep/node/api/v1"
)

func serveOnce(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

func TestRequireToken(t *testing.T) {
	s := New(newFake(t, 1, "alpha"), Options{})
	const token = "0123456789abcdef0123456789abcdef"
	for _, tc := range []struct {
		what, host, auth, site string
		tcp, any               bool
		path                   string
		status                 int
	}{
		{what: "socket with token", auth: "Bearer " + token, status: 200},
		{what: "socket without", status: 401},
		{what: "wrong token", auth: "Bearer 1" + token[1:], status: 401},
		{what: "token as a password", auth: "Basic " + token, status: 401},
		{what: "health needs none", path: "/healthz", status: 200},
		{what: "tcp", tcp: true, host: "127.0.0.1:1", auth: "Bearer " + token, status: 200},
		{what: "tcp by name", tcp: true, host: "localhost:1", auth: "Bearer " + token, status: 200},
		{what: "tcp without token", tcp: true, host: "127.0.0.1:1", status: 401},
		{what: "a name pointed here", tcp: true, host: "evil.example:1", auth: "Bearer " + token, status: 421},
		{what: "another address, TCP on loopback", tcp: true, host: "192.0.2.1:1", auth: "Bearer " + token, status: 421},
		{what: "another address, TCP open", tcp: true, any: true, host: "192.0.2.1:1", auth: "Bearer " + token, status: 200},
		{what: "page of another origin", tcp: true, host: "127.0.0.1:1", auth: "Bearer " + token, site: "cross-site",
			path: "/v1/jobs", status: 403},
	} {
		r := httptest.NewRequest("GET", "/v1/version", nil)
		if tc.site != "" {
			r = httptest.NewRequest("POST", tc.path, strings.NewReader("{}"))
			r.Header.Set("Sec-Fetch-Site", tc.site)
		} else if tc.path != "" {
			r.URL.Path = tc.path
		}
		r.Host = tc.host
		r.Header.Set("Authorization", tc.auth)
		w := httptest.NewRecorder()
		requireToken(listener{tcp: tc.tcp, any: tc.any}, token, s.LocalHandler()).ServeHTTP(w, r)
		if w.Code != tc.status {
			t.Errorf("%s: status %d, %s: want %d", tc.what, w.Code, w.Body, tc.status)
		}
		if w.Code >= 400 && w.Header().Get("Content-Type") != v1.ProblemType {
			t.Errorf("%s: the error is %s: want %s", tc.what, w.Header().Get("Content-Type"), v1.ProblemType)
		}
	}
}

func TestListenAddresses(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:0": "closed", "localhost:0": "closed", "[::1]:0": "closed", "0.0.0.0:0": "open", "192.0.2.1:0": "open",
		":7420": "error", "7420": "error", "example.org:7420": "error", "": "error",
	} {
		any, err := checkAddr(addr)
		got := map[bool]string{true: "open", false: "closed"}[any]
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("api %q: %s (%v): want %s", addr, got, err, want)
		}
	}
}

func TestSocket(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 20))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, client.SocketName)
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: short(t, dir)})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()

	l, _ := Listen("")
	if err := l.Open(dir); err != nil {
		t.Fatalf("a socket that nobody answers at: %v: want it replaced", err)
	}
	for _, name := range []string{client.SocketName, client.TokenName} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v: want mode 0600", name, st.Mode(), err)
		}
	}
	second, _ := Listen("")
	if err := second.Open(dir); err == nil || !strings.Contains(err.Error(), "answers there already") {
		t.Errorf("a second node: %v: want it to say that one answers there", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the second node took the socket away: %v", err)
	}
	l.Close()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is left behind: %v", err)
	}
	if err := os.WriteFile(path, nil, fs.ModePerm); err != nil {
		t.Fatal(err)
	}
	third, _ := Listen("")
	if err := third.Open(dir); err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("a file in the way: %v: want it left alone and named", err)
	}
}

// short returns an address of the socket that the system accepts.
func short(t *testing.T, dir string) string {
	addr, release, err := client.SocketAddr(dir)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(release)
	return addr
}

func TestBlobs(t *testing.T) {
	f := newFake(t, 1, "alpha")
	url := f.serve().URL
	const hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of "hello"
	if status, _ := ask(t, "GET", url+"/v1/blobs/"+hash, ""); status != 404 {
		t.Errorf("a blob that is not here: status %d: want 404", status)
	}
	if status, text := ask(t, "PUT", url+"/v1/blobs/"+hash, "hellO"); status != 422 {
		t.Errorf("content that is not what the hash says: status %d: want 422: %s", status, text)
	}
	if status, text := ask(t, "PUT", url+"/v1/blobs/"+hash, "hello"); status != 200 {
		t.Fatalf("put: status %d: %s", status, text)
	}
	if status, text := ask(t, "GET", url+"/v1/blobs/"+hash, ""); status != 200 || text != "hello" {
		t.Errorf("get: status %d, %q: want hello", status, text)
	}
	req, _ := http.NewRequest("PUT", url+"/v1/blobs/"+hash, nil)
	req.Body, req.ContentLength = http.NoBody, -1
	submit(t, url, "bcde", `,"inputs":[{"path":"a","blob":"`+hash+`","size_bytes":5}]`)
	if status, text := ask(t, "GET", url+"/v1/jobs/bcde/blobs/"+hash, ""); status != 200 || text != "hello" {
		t.Errorf("a job's input: status %d, %q: want hello", status, text)
	}
	submit(t, url, "xyza", "")
	if status, _ := ask(t, "GET", url+"/v1/jobs/xyza/blobs/"+hash, ""); status != 404 {
		t.Errorf("a blob of another job: status %d: want 404", status)
	}
}

func TestNodes(t *testing.T) {
	a, b := newFake(t, 1, "alpha"), newFake(t, 2, "beta")
	a.connect(b)
	url := a.serve().URL
	l := get[v1.NodeList](t, "GET", url+"/v1/nodes", "")
	if len(l.Nodes) != 2 || l.Nodes[0].State != v1.NodeSelf || l.Nodes[1].State != v1.NodeConnected {
		t.Errorf("nodes %+v: want self first, then the connected one", l.Nodes)
	}
	for _, ref := range []string{"beta", b.self.String(), b.self.String()[:4]} {
		if n := get[v1.Node](t, "GET", url+"/v1/nodes/"+ref, ""); n.Name != "beta" {
			t.Errorf("node %s is %s: want beta", ref, n.Name)
		}
	}
	for ref, want := range map[string]int{"gamma": 404, "aaa": 404, "b": 404} {
		if status, _ := ask(t, "GET", url+"/v1/nodes/"+ref, ""); status != want {
			t.Errorf("node %s: status %d: want %d", ref, status, want)
		}
	}
	if n := get[v1.Stats](t, "GET", url+"/v1/stats", ""); n.Dropped["forged"] != 2 || n.Peers != 1 {
		t.Errorf("stats %+v: want what the driver dropped, and one peer", n)
	}
}

// The routes are a contract.
func TestOpenAPI(t *testing.T) {
	url := newFake(t, 1, "alpha").serve().URL
	_, text := ask(t, "GET", url+"/openapi.json", "")
	var doc struct {
		OpenAPI string                    `json:"openapi"`
		Paths   map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for path, ops := range doc.Paths {
		for method := range ops {
			got = append(got, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(got)
	b, err := os.ReadFile("testdata/routes.txt")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(string(b)); strings.Join(got, "\n") != want || !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("OpenAPI %s describes\n%s\nwant 3.1 and\n%s", doc.OpenAPI, strings.Join(got, "\n"), want)
	}
	if strings.Contains(text, "$schema") {
		t.Error("the schemas have a $schema field, which points to pages that are not served")
	}
	for path, want := range map[string]int{"/docs": 404, "/schemas/Job.json": 404, "/v1/nothing": 404, "/v1/token": 405} {
		method := "GET"
		if want == 405 {
			method = "DELETE"
		}
		if status, body := ask(t, method, url+path, ""); status != want || !strings.Contains(body, `"detail"`) {
			t.Errorf("%s %s: status %d, %s: want %d and a problem", method, path, status, body, want)
		}
	}
}

var _ Backend = (*fake)(nil)
