//! A parsed module.

use ruff_python_parser::parse_module;
use ruff_text_size::Ranged;

/// A parsed module, ready for analysis.
#[derive(Clone, Debug)]
pub struct Program {
    code: String,
    lines: LineIndex,
    module: ruff_python_ast::ModModule,
}

/// The code does not parse as Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseProblem {
    /// The line, from 1.
    pub line: u32,
    pub message: String,
}

impl Program {
    /// Parses a module. Uniformly indented code is accepted.
    ///
    /// # Errors
    ///
    /// If the code is not Python, with the first invalid line.
    pub fn parse(code: &str) -> Result<Self, ParseProblem> {
        let lines = LineIndex::of(code);
        match parse_module(code) {
            Ok(parsed) => Ok(Self { code: code.to_owned(), lines, module: parsed.into_syntax() }),
            Err(error) => {
                let line = lines.line(error.range().start().to_u32());
                Err(ParseProblem { line, message: error.error.to_string() })
            }
        }
    }

    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The syntax tree, for checks before an analysis.
    #[must_use]
    pub fn module(&self) -> &ruff_python_ast::ModModule {
        &self.module
    }

    /// The line, from 1, of a byte offset.
    #[must_use]
    pub fn line_at(&self, offset: u32) -> u32 {
        self.lines.line(offset)
    }

    /// The names of the top-level functions, in order, and of methods as `Class.method`.
    #[must_use]
    pub fn functions(&self) -> Vec<String> {
        let mut names = Vec::new();
        for statement in &self.module.body {
            match statement {
                ruff_python_ast::Stmt::FunctionDef(found) => names.push(found.name.to_string()),
                ruff_python_ast::Stmt::ClassDef(class) => {
                    for inner in &class.body {
                        if let ruff_python_ast::Stmt::FunctionDef(method) = inner {
                            names.push(format!("{}.{}", class.name, method.name));
                        }
                    }
                }
                _ => {}
            }
        }
        names
    }
}

/// The offsets of line starts.
#[derive(Clone, Debug)]
struct LineIndex(Vec<u32>);

impl LineIndex {
    fn of(code: &str) -> Self {
        let after_newline = code.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = after_newline.filter_map(|(index, _)| u32::try_from(index + 1).ok());
        Self(std::iter::once(0).chain(starts).collect())
    }

    fn line(&self, offset: u32) -> u32 {
        let index = self.0.partition_point(|start| *start <= offset);
        u32::try_from(index).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::Program;

    #[test]
    fn problems_have_their_line() {
        let problem = Program::parse("x = 1\n\ndef f(:\n    pass\n").expect_err("not Python");
        assert_eq!(problem.line, 3);
        assert_eq!(
            Program::parse("def f(): pass\nclass C:\n  def m(self): pass\n").unwrap().functions(),
            ["f", "C.m"]
        );
    }
}
