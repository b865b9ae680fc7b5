//! Programs that must not compile.

#[test]
fn the_compiler_refuses_the_unsafe_paths() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
