package pb

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// The generated code is that of the schema beside it.
func TestGeneratedFromSchema(t *testing.T) {
	protoc, err := exec.LookPath("protoc")
	if err != nil {
		t.Skip("no protoc")
	}
	for name, code := range map[string]protoreflect.FileDescriptor{"skep": File_skep_proto, "jobs": File_jobs_proto} {
		file := filepath.Join(t.TempDir(), "set")
		if out, err := exec.Command(protoc, "--descriptor_set_out="+file, name+".proto").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var set descriptorpb.FileDescriptorSet
		if err := proto.Unmarshal(b, &set); err != nil {
			t.Fatal(err)
		}
		if want := protodesc.ToFileDescriptorProto(code); len(set.File) != 1 || !proto.Equal(set.File[0], want) {
			t.Errorf("%s.pb.go is not of this %[1]s.proto: run go generate\nschema: %v\n  code: %v", name, set.File, want)
		}
	}
}
