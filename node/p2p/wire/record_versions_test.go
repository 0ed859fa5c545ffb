package wire

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"skep/grid"
)

// later replaces the versions that are read by those of a Skep that is two versions ahead, until the test ends. Its
// versions 1 and 2 had another end of each value.
func later(t *testing.T) {
	was := recordVersions
	t.Cleanup(func() { recordVersions = was })
	step := func(from, to string) func(grid.RecordKind, []byte) ([]byte, error) {
		return func(k grid.RecordKind, body []byte) ([]byte, error) {
			if k == 0 || !bytes.HasSuffix(body, []byte(from)) {
				return nil, ErrMalformed
			}
			return append(bytes.TrimSuffix(body, []byte(from)), to...), nil
		}
	}
	recordVersions = versions{latest: 3,
		next: []func(grid.RecordKind, []byte) ([]byte, error){step("one", "two"), step("two", "")}}
}

// A record of an older version is read as what it is today, one version after the other. Only a later one is newer.
func TestRecordsOfOlderVersionsAreRead(t *testing.T) {
	for i := range exampleRecords() {
		key, value, err := AppendRecord(nil, &exampleRecords()[i])
		if err != nil {
			t.Fatal(err)
		}
		want, err := DecodeRecord(key, value)
		if err != nil {
			t.Fatal(err)
		}
		t.Run("", func(t *testing.T) {
			later(t)
			of := func(version byte, end string) []byte { return append(append([]byte{version}, value[1:]...), end...) }
			for _, old := range [][]byte{of(1, "one"), of(2, "two"), of(3, "")} {
				if got, err := DecodeRecord(key, old); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("version %d of a record of kind %d: %+v, %v", old[0], key[0], got, err)
				}
			}
			for _, c := range []struct {
				value []byte
				err   error
				says  string
			}{
				{of(4, ""), ErrVersion, "unknown version 4: this Skep reads 3 and older"},
				{of(0, ""), ErrMalformed, "version 0"},
				{of(1, "two"), ErrMalformed, "record of version 1"},
				{of(2, "one"), ErrMalformed, "record of version 2"},
			} {
				if _, err := DecodeRecord(key, c.value); !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("version %d: %v: want %q", c.value[0], err, c.says)
				}
			}
		})
	}
}

// Each version but the latest has a way to the next one.
func TestEachVersionHasItsMigration(t *testing.T) {
	if len(recordVersions.next) != recordVersion-1 || recordVersions.latest != recordVersion {
		t.Errorf("%d migrations to version %d: want one for each version before it", len(recordVersions.next), recordVersion)
	}
}
