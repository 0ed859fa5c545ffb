package v1

import (
	"reflect"

	"skep/grid"
)

// exact are fields that are not text for people: a program that prints them must escape them.
var exact = map[string]bool{"Command": true, "Env": true}

// Printable cleans all text in what v points to, but for programs and their environment. An answer about a job may
// come from another member, unchecked.
func Printable(v any) { printable(reflect.ValueOf(v)) }

func printable(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			printable(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !exact[f.Name] {
				printable(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			printable(v.Index(i))
		}
	case reflect.Map:
		cleaned := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.Set(it.Key())
			value.Set(it.Value())
			printable(key)
			printable(value)
			cleaned.SetMapIndex(key, value)
		}
		if !v.IsNil() {
			v.Set(cleaned)
		}
	case reflect.String:
		if s := v.String(); !grid.Printable(s) {
			v.SetString(grid.Clean(s, len(s)))
		}
	}
}
