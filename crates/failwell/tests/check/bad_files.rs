//! Files with mistakes, each with all expected problems as `line:column message | help`.

pub(crate) const CASES: &[(&str, &[&str])] = &[
    ("lisen = \"127.0.0.1:1\"\n", &["1:1 unknown key `lisen` | did you mean `listen`?"]),
    (
        "colour = \"SECRET\"\n",
        &["1:1 unknown key `colour` | `failwell check --schema` shows the keys there are"],
    ),
    (
        "listen = 8484\n",
        &[
            "1:10 `listen` must be text, not a whole number | write it in quotes, such as listen = \"127.0.0.1:8484\"",
        ],
    ),
    (
        "listen = \"localhost\"\n",
        &[
            "1:10 `listen` is not an IP address with a port | write an IP address and a port, such as 127.0.0.1:8484 or [::1]:8484; 8484 alone is a port of this machine",
        ],
    ),
    (
        "state = \"redis\"\n",
        &[
            "1:9 `state` is neither memory nor an address of Redis | write \"memory\", or an address such as \"redis://127.0.0.1:6379\"",
        ],
    ),
    (
        "state = \"rediss://me:SECRET@h:6379?insecure\"\n",
        &[
            "1:9 `state` has more than a database number after its host | write the number of the database, such as \"redis://127.0.0.1:6379/2\", or nothing",
        ],
    ),
    (
        "[state]\nca_file = \"none.pem\"\n",
        &[
            "1:2 `state` has no `url` | write state = { url = \"rediss://…\", ca_file = \"…\" }",
            "2:11 `ca_file` cannot be used | name a file that can be read, at most 1 MiB; relative paths start at the folder of this file",
        ],
    ),
    (
        "[state]\nurl = \"redis://:SECRET@h\"\nca_file = \"failwell.toml\"\ncafile = \"x\"\n",
        &[
            "3:1 `ca_file` has no effect without TLS | write rediss://, or remove it",
            "3:11 `ca_file` holds no certificates that can be used | use certificates of authorities as PEM: -----BEGIN CERTIFICATE-----",
            "4:1 unknown key `cafile` | did you mean `ca_file`?",
        ],
    ),
    (
        "state = \"redis://:SECRET@h:6379/one\"\n",
        &[
            "1:9 `state` has more than a database number after its host | write the number of the database, such as \"redis://127.0.0.1:6379/2\", or nothing",
        ],
    ),
    (
        "state = \"redis://:${UNSET}@h\"\n",
        &["1:19 the environment variable UNSET is not set | set it before the start: export UNSET=…"],
    ),
    (
        "[tasks]\napi_key = \"SECRET\"\n",
        &["1:2 `api_key` needs `shared_secret` | write both below [tasks], or leave both to the environment"],
    ),
    (
        "[tasks]\napi_key = \"${UNSET}\"\nshared_secret = 5\npermission = \"all\"\ntoken_store = \"ring\"\ntimeout_s = 0\nkey = \"SECRET\"\n",
        &[
            "2:12 the environment variable UNSET is not set | set it before the start: export UNSET=…",
            "3:17 `shared_secret` must be text, not a whole number | write it in quotes",
            "4:14 `permission` must be one of: read, write, delete | choose one of these values",
            "5:15 `token_store` must be one of: auto, keyring, file | choose one of these values",
            "6:13 `timeout_s` is out of range | give it a value from 1 to 300; the default is 20",
            "7:1 `key` does not belong here | move `key` to the top of the file, above the first [[upstream]]",
        ],
    ),
    (
        "[tasks]\nbase_url = \"http://example.org\"\n",
        &[
            "2:12 `base_url` is not encrypted | begin it with https://, or use an address of this machine: keys are sent there",
        ],
    ),
    ("data_dir = \"\"\n", &["1:12 `data_dir` is empty | name a folder, or remove the line"]),
    (
        "data_dir = \"failwell.toml\"\n[shelf]\nfolder = \"failwell.toml/x\"\n",
        &[
            "1:12 `data_dir` names a file | name a folder that exists or can be created",
            "3:10 `folder` is below a file | name a folder that exists or can be created",
        ],
    ),
    (
        "servers = \"lobby\"\n",
        &["1:11 `servers` must be a list of text, not text | write it as servers = [\"lobby\"]"],
    ),
    (
        "servers = [\"loby\", \"lobby\", \"lobby\", \"thing\", 5]\n",
        &[
            "1:12 there is no built-in server `loby` | did you mean `lobby`?",
            "1:29 `lobby` is named twice | remove one of them",
            "1:38 there is no built-in server `thing` | the built-in servers are `device`, `lobby`, `pytest`, `symbolic`, `tasks`",
            "1:47 `servers` must be text in its list, not a whole number | write it as servers = [\"…\", \"…\"]",
        ],
    ),
    (
        "servers = []\n",
        &[
            "1:1 there is nothing to serve | name a built-in server (`device`, `lobby`, `pytest`, `symbolic`, `tasks`) or add an [[upstream]]",
        ],
    ),
    (
        "[guard.secret]\n\
         action = \"redact\"\n\
         [tools.a]\n\
         allow = []\n",
        &[
            "1:8 unknown key `secret` | did you mean `secrets`?",
            "3:8 there is no server `a` | the servers of this file are `lobby`; `*` stands for all",
        ],
    ),
    (
        "critical = true\n\
         [audit]\n\
         critical = \"yes\"\n\
         bodys = true\n\
         body_bytes = 10\n\
         jsonl = \"copy\"\n\
         csv = \"copy\"\n\
         text = \"not/there/audit.log\"\n\
         retention = { day = 3 }\n\
         rotation = { files = 5000 }\n",
        &[
            "1:1 `critical` does not belong here | move `critical` below [audit]",
            "3:12 `critical` must be true or false, not text | write true or false without quotes",
            "4:1 unknown key `bodys` | did you mean `bodies`?",
            "5:14 `body_bytes` is out of range | give it a value from 256 to 1048576; the default is 16384",
            "7:7 `csv` and `jsonl` name the same file | name a different file for each",
            "8:8 the folder of `text` does not exist | create the folder, or name a file in one that exists",
            "9:15 unknown key `day` | did you mean `days`?",
            "10:22 `files` is out of range | give it a value from 0 to 1000; the default is 5",
        ],
    ),
    (
        "[guard.pii]\n\
         categories = [\"emial\", \"weather\"]\n\
         [guard.secrets]\n\
         action = \"redcat\"\n\
         directions = [\"results\", \"sideways\"]\n\
         servers = { loby = \"block\", lobby = \"sometimes\" }\n\
         [guard.injection]\n\
         action = \"audit_only\"\n\
         sensitivity = \"paranoid\"\n\
         sensitive = true\n",
        &[
            "1:8 the guard has no action | add action = \"…\": `block`, `redact`, `audit_only`, `off`",
            "2:15 unknown value `emial` | did you mean `email`?",
            "2:24 unknown value `weather` | write one of `email`, `phone`, `credit_card`, `ip_address`, `us_ssn`, `uk_nino`, `ca_sin`, `es_dni`, `it_codice_fiscale`, `fr_nir`, `br_cpf`, `in_aadhaar`, `iban`, `mac_address`",
            "4:10 unknown value `redcat` | did you mean `redact`?",
            "5:26 unknown value `sideways` | write one of `requests`, `results`, `errors`, `notices`",
            "6:13 there is no server `loby` | did you mean `lobby`?",
            "6:37 unknown value `sometimes` | write one of `block`, `redact`, `audit_only`, `off`",
            "9:15 unknown value `paranoid` | write one of `relaxed`, `standard`, `strict`",
            "10:1 unknown key `sensitive` | did you mean `sensitivity`?",
        ],
    ),
    ("timeout_s = 5\n", &["1:1 `timeout_s` does not belong here | move `timeout_s` to its [[upstream]]"]),
    (
        "upstream = 5\n",
        &[
            "1:1 `upstream` must be a list of tables, not a whole number | write [[upstream]] with two pairs of brackets above each one",
        ],
    ),
    (
        "[upstream]\n\
         name = \"a\"\n",
        &[
            "1:2 `upstream` must be a list of tables, not a table | write [[upstream]] with two pairs of brackets above each one",
        ],
    ),
    (
        "upstream = [5]\n",
        &[
            "1:13 `upstream` must be a list of tables, not a whole number | write [[upstream]] with two pairs of brackets above each one",
        ],
    ),
    (
        "[[upstream]]\n\
         command = [\"x\"]\n",
        &["1:1 the upstream has no name | add name = \"…\": lowercase letters, digits, - and _"],
    ),
    (
        "[[upstream]]\n\
         name = \"lobby\"\n\
         command = [\"x\"]\n",
        &["2:8 `lobby` is the name of a built-in server | choose another name"],
    ),
    (
        "[[upstream]]\n\
         name = \"a__b\"\n\
         command = [\"x\"]\n",
        &[
            "2:8 this cannot be the name of an upstream | use lowercase letters, digits, - and single _, beginning with a letter and not ending in _",
        ],
    ),
    (
        "[[upstream]]\n\
         name = 5\n\
         command = [\"x\"]\n",
        &["2:8 `name` must be text, not a whole number | write it in quotes, such as name = \"files\""],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         [[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n",
        &["5:8 `a` is the name of two upstreams | rename one; the other is on line 2"],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         listen = \"127.0.0.1:1\"\n\
         state = \"memory\"\n\
         budget = 5\n",
        &[
            "4:1 `listen` does not belong here | move `listen` to the top of the file, above the first [[upstream]]",
            "5:1 `state` does not belong here | move `state` to the top of the file, above the first [[upstream]]",
            "6:1 unknown key `budget` | `failwell check --schema` shows the keys there are",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n",
        &[
            "1:1 the upstream has neither `command` nor `url` | add command = [\"program\", \"argument\"] or url = \"https://…\"",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         url = \"https://h/\"\n",
        &[
            "4:1 the upstream has both `command` and `url` | keep `command` for a program to start, or `url` for a server that already runs",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = []\n",
        &["3:1 `command` has no program | name the program first: command = [\"program\", \"argument\"]"],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"\", \"y\"]\n",
        &["3:12 `command` has no program | name the program first: command = [\"program\", \"argument\"]"],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = \"x y\"\n",
        &["3:11 `command` must be a list of text, not text | write it as command = [\"x\", \"y\"]"],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [5]\n",
        &[
            "3:12 `command` must be text in its list, not a whole number | write it as command = [\"…\", \"…\"]",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         headers = { A = \"SECRET\" }\n\
         cwd = \"nowhere\"\n\
         env_pass = [\"A B\"]\n",
        &[
            "4:1 `headers` has no effect with `command` | remove it: it goes with `url`",
            "5:7 `cwd` is not a folder | name a folder that exists; relative paths start at the folder of this file",
            "6:13 this cannot be the name of a variable | use letters, digits and underscores, such as \"PATH\"",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         url = \"https://h/\"\n\
         cwd = \".\"\n\
         env = { A = \"SECRET\" }\n\
         env_pass = [\"PATH\"]\n",
        &[
            "4:1 `cwd` has no effect with `url` | remove it: it goes with `command`",
            "5:1 `env` has no effect with `url` | remove it: it goes with `command`",
            "6:1 `env_pass` has no effect with `url` | remove it: it goes with `command`",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         url = \"ftp://user:SECRET@h/\"\n",
        &["3:7 `url` is neither http nor https | begin it with https:// or http://"],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         url = \"https://user:SECRET@h/?key=SECRET\"\n",
        &[
            "3:7 `url` holds credentials | send them as a header: headers = { Authorization = \"Bearer ${TOKEN}\" }",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         url = \"tools.example/mcp?SECRET\"\n",
        &["3:7 `url` is no address | write it in full, such as \"https://tools.example/mcp\""],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         url = \"http://h:99999/\"\n",
        &["3:7 `url` has no proper host and port | write it in full, such as \"https://tools.example/mcp\""],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         env = { A = \"${UNSET} ${file:none} SECRET\", \"B C\" = \"SECRET\", D = 5, E = \"SECRET ${\", F = \"${SECRET SECRET}\" }\n",
        &[
            "4:14 the environment variable UNSET is not set | set it before the start: export UNSET=…",
            "4:23 the file `none` cannot be used: No such file or directory (os error 2) | check the path; it starts at this folder",
            "4:45 this cannot be the name of a variable | use letters, digits and underscores",
            "4:67 `env.D` must be text, not a whole number | write its value in quotes",
            "4:82 `${` is never closed | write ${NAME} or ${file:path}, or $${ for a literal ${",
            "4:92 `${…}` does not contain the name of a variable | write ${NAME} with letters, digits and underscores, ${file:path}, or $${ for a literal ${",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         env = \"SECRET\"\n",
        &["4:7 `env` must be a table of text, not text | write it as env = { NAME = \"…\" }"],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         ca_file = \"none.pem\"\n\
         auth = { token_url = \"https://h/t\", client_id = \"i\", client_secret = \"SECRET\" }\n",
        &[
            "4:1 `ca_file` has no effect with `command` | remove it: it goes with `url`",
            "4:11 `ca_file` cannot be used | name a file that can be read, at most 1 MiB; relative paths start at the folder of this file",
            "5:1 `auth` has no effect with `command` | remove it: it goes with `url`",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         url = \"https://h/\"\n\
         ca_file = \"failwell.toml\"\n\
         headers = { Authorization = \"SECRET\" }\n\
         auth = { token_url = \"http://user:SECRET@h/\", client_secret = \"SECRET ${UNSET}\", scope = \" \", secret = \"SECRET\" }\n",
        &[
            "4:11 `ca_file` holds no certificates that can be used | use certificates of authorities as PEM: -----BEGIN CERTIFICATE-----",
            "6:1 `auth` without `client_id` | write auth = { token_url = \"…\", client_id = \"…\", client_secret = \"${NAME}\" }",
            "6:1 the upstream has both `auth` and a header `authorization` | keep `auth` for tokens that are fetched, or the header for one that never changes",
            "6:22 `token_url` holds credentials | name them in client_id and client_secret",
            "6:71 the environment variable UNSET is not set | set it before the start: export UNSET=…",
            "6:90 `scope` is empty | give it a value, or remove it",
            "6:95 unknown key `secret` | the keys here are `token_url`, `client_id`, `client_secret`, `scope`, `audience`, `resource`",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         url = \"https://h/\"\n\
         transport = \"stdio\"\n\
         sessions = \"percaller\"\n\
         max_sessions = 0\n\
         auth = { token_url = \"http://login.example/t\", client_id = \"i\", client_secret = 5 }\n",
        &[
            "4:13 `transport` must be one of: http, sse | choose one of these values",
            "5:12 `sessions` must be one of: shared, per_caller | did you mean `per_caller`?",
            "6:16 `max_sessions` is out of range | give it a value from 1 to 10000; the default is 100",
            "7:22 `token_url` is not encrypted | begin it with https://: a secret is sent to login.example",
            "7:81 `client_secret` must be text, not a whole number | write it in quotes",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         url = \"https://h/\"\n\
         [upstream.headers]\n\
         Host = \"SECRET\"\n\
         X = \"${LINES}\"\n\
         x = \"SECRET\"\n\
         \"a b\" = \"é SECRET\"\n",
        &[
            "5:1 `host` cannot be set here | remove it: it is set for each request",
            "6:5 the value cannot be sent in a header | use printable ASCII on one line; look for line breaks in the variable or file",
            "7:1 this header occurs twice | remove one: header names are case-insensitive",
            "8:1 this cannot be the name of a header | use letters, digits and dashes",
            "8:9 the value cannot be sent in a header | use printable ASCII on one line; look for line breaks in the variable or file",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         url = \"https://h/\"\n\
         headers = { A = \"'SECRET\", B = '''SECRET''', C = ['SECRET', 1] }\n\
         envs = { A = 'SECRET' }\n",
        &[
            "4:50 `headers.C` must be text, not a list | write its value in quotes",
            "5:1 unknown key `envs` | did you mean `env`?",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         timeout_s = 0\n\
         start_timeout_s = 3601\n\
         idle_stop_s = -1\n\
         max_message_bytes = 65535\n",
        &[
            "4:13 `timeout_s` is out of range | give it a value from 1 to 3600; the default is 60",
            "5:19 `start_timeout_s` is out of range | give it a value from 1 to 3600; the default is 30",
            "6:15 `idle_stop_s` is out of range | give it a value from 0 to 86400; the default is 0",
            "7:21 `max_message_bytes` is out of range | give it a value from 65536 to 16777216; the default is 16777216",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         timeout_s = \"60\"\n\
         start_timeout_s = 1.5\n\
         idle_stop_s = 99999999999999999999999\n\
         trusted_errors = \"no\"\n",
        &[
            "4:13 `timeout_s` must be a whole number, not text | write a number from 1 to 3600 without quotes",
            "5:19 `start_timeout_s` must be a whole number, not a fraction | write a number from 1 to 3600 without quotes",
            "6:15 `idle_stop_s` is out of range | give it a value from 0 to 86400; the default is 0",
            "7:18 `trusted_errors` must be true or false, not text | write true or false without quotes",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         restart = 5\n",
        &[
            "4:11 `restart` must be a table, not a whole number | write it as restart = { budget = …, window_s = … }",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         restart = { budget = -1, window_s = 0, budgets = 1 }\n",
        &[
            "4:22 `budget` is out of range | give it a value from 0 to 1000; the default is 5",
            "4:37 `window_s` is out of range | give it a value from 1 to 86400; the default is 60",
            "4:40 unknown key `budgets` | did you mean `budget`?",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\"]\n\
         timeout = 5\n\
         \"ti\\u001b[31m\" = 5\n",
        &[
            "4:1 unknown key `timeout` | did you mean `timeout_s`?",
            "5:1 unknown key `ti�[31m` | `failwell check --schema` shows the keys there are",
        ],
    ),
    (
        "listen = \"127.0.0.1:1\n\
         lisen = 5\n",
        &[
            "1:22 invalid basic string, expected `\"` | put text in quotes, and close them on the same line",
            "2:1 unknown key `lisen` | did you mean `listen`?",
        ],
    ),
    (
        "listen = 127.0.0.1\n",
        &["1:15 invalid float, expected nothing | write each setting as key = value, text in quotes"],
    ),
    (
        "[[upstream]\n\
         name = \"a\"\n",
        &["1:12 unclosed array table, expected `]` | write [[name]] with two pairs of brackets"],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         command = [\"x\",\n\
         timeout_s = 5\n\
         [[upstream]]\n\
         name = \"b\"\n",
        &["4:11 unexpected `=` in array, expected value, `]` | close the list with ]"],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         name = \"b\"\n\
         headers = { A = \"SECRET }\n",
        &[
            "3:1 duplicate key | keep one of them",
            "4:26 unclosed inline table, expected `}` | close the table with }",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         url = \"https://h/\"\n\
         [upstream.headers]\n\
         Authorization = \"\"\"\n\
         SECRET=\n\
         SECRET\n",
        &[
            "8:1 invalid multi-line basic string, expected `\"` | put text in quotes, and close them on the same line",
        ],
    ),
    (
        "[[upstream]]\n\
         name = \"a\"\n\
         url = \"https://h/\"\n\
         [upstream.headers]\n\
         Authorization = Bearer SECRET\n",
        &[
            "5:17 string values must be quoted, expected literal string | put text in quotes, and close them on the same line",
        ],
    ),
    (
        "= 5\n\
         \u{1}\n\
         SECRET words\n",
        &[
            "1:1 unquoted keys cannot be empty, expected letters, numbers, `-`, `_` | write each setting as key = value, text in quotes",
            "2:2 key with no value, expected `=` | write each setting as key = value, text in quotes",
            "3:8 key with no value, expected `=` | write each setting as key = value, text in quotes",
        ],
    ),
    (
        "servers = [\"lobby\"]\n\
         [tools.loby]\n\
         allow = \"echo\"\n\
         renam = { echo = \"say\" }\n\
         [tools.lobby]\n\
         rename = { echo = \"no spaces\", wait = \"x\", fail = \"x\" }\n\
         arguments = { echo = { type = 5 } }\n\
         [resources.lobby]\n\
         rename = { a = \"b\" }\n",
        &[
            "2:8 there is no server `loby` | did you mean `lobby`?",
            "3:9 `allow` must be a list of text, not text | write it as allow = [\"echo\"]",
            "4:1 unknown key `renam` | did you mean `rename`?",
            "6:19 clients do not accept this name | use 1 to 64 letters, digits, _, - and .",
            "6:39 two items would have the name `x` | give one of them another name",
            "7:15 this is not a JSON Schema | write a JSON Schema, such as { properties = { path = { pattern = \"^/data/\" } } }",
            "9:1 unknown key `rename` | the keys here are `allow`, `hide`, `describe`",
        ],
    ),
    (
        "servers = [\"lobby\"]\n\
         cedar = \"no-such-file.cedar\"\n\
         tools = 5\n\
         [[rule]]\n\
         callers = [\"bob\", \"!role:admin\", \"key:ci\"]\n\
         [[rule]]\n\
         servers = [\"*\"]\n\
         prompts = { hide = [\"x\"] }\n",
        &[
            "2:9 the policies cannot be read: No such file or directory (os error 2) | name a file of Cedar policies",
            "3:9 `tools` must be a table, not a whole number | write [tools.<name>] above its keys",
            "4:1 the rule has no effect | name tools, prompts or limits, such as tools = { hide = [\"delete_*\"] }",
            "5:12 this is not a caller | write `key:NAME`, `jwt:SUBJECT`, `role:NAME` or `anonymous`",
        ],
    ),
];
