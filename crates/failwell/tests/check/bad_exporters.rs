//! Mistakes in the settings of exporters, with all expected problems.

pub(crate) const CASES: &[(&str, &[&str])] = &[
    (
        "[audit]\nledger = false\ncritical = true\nbodies = false\ncsv = \"a.csv\"\notlp = \"http://127.0.0.1:4318\"\n",
        &[
            "3:1 `critical` has no effect without the ledger | remove it, or remove `ledger = false`",
            "5:1 `csv` has no effect without the ledger | remove it, or remove `ledger = false`",
            "6:1 `otlp` exports records, which need the ledger | remove `ledger = false`, or add `logs = false` to [audit.otlp] and send spans alone",
        ],
    ),
    (
        "[audit]\notlp = 4318\n",
        &[
            "2:8 `otlp` must be text, not a whole number | write it in quotes, such as otlp = \"http://127.0.0.1:4318\"",
        ],
    ),
    (
        "[audit]\notlp = \"/var/collector\"\n",
        &["2:8 `otlp` is no address | write it in full, such as \"http://127.0.0.1:4318\""],
    ),
    (
        "[audit]\notlp = \"http://me:SECRET@h:4318\"\n",
        &[
            "2:8 `otlp` holds credentials | send them as a header: headers = { Authorization = \"Bearer ${TOKEN}\" }",
        ],
    ),
    (
        "[audit]\notlp = \"http://127.0.0.1:4318/?key=SECRET\"\n",
        &[
            "2:1 `otlp` has a query | remove the question mark and everything after it; send a key as a header",
        ],
    ),
    ("otlp = \"http://h:1\"\n", &["1:1 `otlp` does not belong here | move `otlp` below [audit]"]),
    (
        "[audit.otlp]\nheaders = { Authorization = \"${UNSET}\" }\nlogs = false\nspans = false\nsample_one_in = -1\nbatchs = 5\n",
        &[
            "1:8 `otlp` has no `url` | write otlp = { url = \"http://127.0.0.1:4318\" }",
            "2:30 the environment variable UNSET is not set | set it before the start: export UNSET=…",
            "4:1 `otlp` exports nothing | remove one of `logs` and `spans`, or `otlp` altogether",
            "5:17 `sample_one_in` is out of range | give it a value from 0 to 1000000; the default is 1",
            "6:1 unknown key `batchs` | did you mean `batch`?",
        ],
    ),
    (
        "[audit.otlp]\nurl = \"http://collector.example\"\nheaders = { x-key = \"SECRET\", host = \"a\" }\ntimeout_s = 0\n",
        &[
            "3:1 `headers` are not encrypted | begin `url` with https://: headers are sent to collector.example",
            "3:31 `host` cannot be set here | remove it: it is set for each request",
            "4:13 `timeout_s` is out of range | give it a value from 1 to 300; the default is 10",
        ],
    ),
    (
        "[audit]\npostgres = \"mysql://SECRET@h\"\n",
        &[
            "2:12 `postgres` is no address of PostgreSQL | write it in full, such as \"postgres://failwell:${PASSWORD}@127.0.0.1:5432/failwell\"",
        ],
    ),
    (
        "[audit]\npostgres = \"postgres://me:SECRET@db.example/x\"\n",
        &["2:12 `postgres` is not encrypted | add ?sslmode=require: the password and the records go there"],
    ),
    (
        "[audit.postgres]\nurl = \"postgres://me:${UNSET}@127.0.0.1/x\"\ncritical = true\nbatch = 0\nca_file = \"none.pem\"\n",
        &[
            "2:22 the environment variable UNSET is not set | set it before the start: export UNSET=…",
            "3:1 `critical` has no effect unless [audit] is critical too | add critical = true to [audit], or remove it here",
            "4:9 `batch` is out of range | give it a value from 1 to 10000; the default is 1000",
            "5:11 `ca_file` cannot be used | name a file that can be read, at most 1 MiB; relative paths start at the folder of this file",
        ],
    ),
    ("[audit.postgres]\n", &["1:8 `postgres` has no `url` | write postgres = { url = \"postgres://…\" }"]),
];
