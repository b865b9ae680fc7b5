use std::collections::BTreeMap;

use failwell_fault::Fault;
use failwell_sdk::{Content, Prompt, PromptArgument, PromptResult};

const CODE: PromptArgument = PromptArgument {
    name: "code",
    description: "Python source with the function and what it uses",
    required: true,
};
const FUNCTION: PromptArgument =
    PromptArgument { name: "function_name", description: "the function", required: true };

/// One prompt for each analysis.
pub(super) fn all() -> Vec<Prompt> {
    vec![
        prompt(
            "check_contract",
            "Prove a function's contract, or find what breaks it",
            "Call symbolic_check with this code and function_name `{function_name}`. If the status is `counterexample`, explain each violation and propose a fix; if it is `verified`, say what was proven and under which assumptions; otherwise say what `proof` leaves open.",
        )
        .argument(CODE)
        .argument(FUNCTION),
        prompt(
            "find_exception",
            "Find inputs that make a function raise",
            "Call find_path_to_exception with this code, function_name `{function_name}` and exception_type `{exception_type}`. For each triggering input say why it raises, and how the function should treat it.",
        )
        .argument(CODE)
        .argument(FUNCTION)
        .argument(PromptArgument {
            name: "exception_type",
            description: "the exception, such as ValueError",
            required: true,
        }),
        prompt(
            "compare_refactoring",
            "Prove that a refactoring changes nothing, or find what it changes",
            "Call compare_functions with this code, function_a `{function_a}` and function_b `{function_b}`. If they differ, show the distinguishing input, and say which of the two is right.",
        )
        .argument(CODE)
        .argument(PromptArgument { name: "function_a", description: "the function as it was", required: true })
        .argument(PromptArgument { name: "function_b", description: "the function as it is now", required: true }),
        prompt(
            "find_dead_code",
            "Find unreachable branches",
            "Call analyze_branches with this code, function_name `{function_name}` and symbolic_reachability true. List the unreachable lines, say why they are unreachable, and propose code to remove.",
        )
        .argument(CODE)
        .argument(FUNCTION),
    ]
}

fn prompt(name: &'static str, description: &'static str, text: &'static str) -> Prompt {
    Prompt::new(name, description, move |given, _| {
        let filled = fill(text, &given);
        let code = given.get("code").cloned().unwrap_or_default();
        async move {
            let result =
                PromptResult { description: Some(description.to_owned()), ..PromptResult::default() };
            Ok::<_, Fault>(result.user(Content::text(format!("{filled}\n\n```python\n{code}\n```"))))
        }
    })
}

fn fill(text: &str, given: &BTreeMap<String, String>) -> String {
    given
        .iter()
        .filter(|(name, _)| name.as_str() != "code")
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}
