//! Mistakes in the settings of keys, tokens and limits, as `line:column message | help`.

pub(crate) const CASES: &[(&str, &[&str])] = &[
    (
        "require_key = \"yes\"\nrequire_keys = true\n",
        &[
            "1:15 `require_key` must be true or false, not text | write true or false without quotes",
            "2:1 unknown key `require_keys` | did you mean `require_key`?",
        ],
    ),
    (
        "servers = [\"lobby\"]\n\
         [[key]]\n\
         hash = \"sha256:12\"\n\
         [[key]]\n\
         name = \"a b\"\n\
         key = \"${SET}\"\n\
         roles = [\"role:x\"]\n\
         [[key]]\n\
         name = \"ci\"\n\
         key = \"SECRET-short\"\n\
         [[key]]\n\
         name = \"ci\"\n\
         [[key]]\n\
         name = \"environment\"\n\
         key = \"${SET}\"\n\
         hash = \"x\"\n\
         [[key]]\n\
         name = \"again\"\n\
         key = \"${SET}\"\n",
        &[
            "2:1 the key has no name | add name = \"…\"",
            "3:8 `hash` is not the hash of a key | write sha256: and 64 hexadecimal digits; `failwell key new` prints such a line",
            "5:8 this cannot be the name of a key | use 1 to 64 letters, digits, ., _, @ and -, beginning with a letter or digit",
            "7:10 this cannot be the name of a role | use 1 to 128 letters, digits, ., _, @, / and -",
            "10:7 `key` is shorter than 16 characters | use a long random one: `failwell key new` creates it",
            "11:1 the key has neither `hash` nor `key` | run `failwell key new`, which prints the line to write",
            "14:8 this name is reserved | choose another name: this one belongs to FAILWELL_KEY",
            "15:1 the key has both `key` and `hash` | keep one of them; with `hash` the file contains no secret",
            "19:7 two names have the same key | create a key for each",
        ],
    ),
    (
        "[limits]\n\
         rate = \"5/d\"\n\
         concurrency = 0\n\
         errors = { burst = 3 }\n\
         [limits.callers.bob]\n\
         rate = \"5/s\"\n\
         [limits.callers.\"role:x\"]\n\
         burst = 5\n\
         [limits.tools.echo]\n\
         rate = 5\n\
         [limits.tools.\"lobby__*\"]\n\
         rat = \"5/s\"\n",
        &[
            "2:8 `rate` is no rate | write how many in which time, such as \"5/s\", \"30/min\" or \"100/h\"",
            "3:15 `concurrency` is out of range | give it a value from 1 to 100000",
            "4:1 `errors` has no `rate` | write errors = { rate = \"5/s\" }",
            "5:17 this is not a caller | write `key:NAME`, `jwt:SUBJECT`, `role:NAME` or `anonymous`",
            "7:17 the limit has neither `rate` nor `concurrency` | add rate = \"5/s\" or concurrency = 2",
            "9:15 this is not a tool of a server | write it as server__tool, with `*` for any run of characters",
            "10:8 `rate` must be text, not a whole number | write it in quotes, such as rate = \"5/s\"",
            "11:15 the limit has neither `rate` nor `concurrency` | add rate = \"5/s\" or concurrency = 2",
            "12:1 unknown key `rat` | did you mean `rate`?",
        ],
    ),
    (
        "[jwt]\n\
         issuer = \"login.example\"\n\
         jwks = \"http://keys.example/jwks\"\n\
         scopes = [\"a b\"]\n\
         resource = \"https://tools.example/mcp\"\n\
         role_claim = \"x\"\n",
        &[
            "1:2 [jwt] has no `audience` | write issuer = \"https://…\", audience = \"…\" and jwks = \"https://…\"",
            "2:10 `issuer` is neither http nor https | begin it with https:// or http://",
            "3:8 `jwks` is not encrypted | begin it with https://: an attacker who replaces the keys could impersonate any caller",
            "4:11 this cannot be a scope | use one word of printable ASCII without quotes and backslashes for each",
            "5:12 `resource` has more than a host | remove everything after the host",
            "6:1 unknown key `role_claim` | did you mean `roles_claim`?",
        ],
    ),
    (
        "[jwt]\n\
         issuer = \"https://login.example\"\n\
         audience = \"\"\n\
         jwks = \"no-such-file.json\"\n\
         ca_file = \"x\"\n",
        &[
            "3:12 `audience` is empty | give it a value, or remove it",
            "4:8 `jwks` cannot be read | give an address, https://…, or a file that can be read, at most 256 KiB",
            "5:1 `ca_file` has no effect with keys in a file | remove it, or give the address of the keys",
        ],
    ),
];
