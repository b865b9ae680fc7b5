//! Mistakes in the settings of approvals and pins, as `line:column message | help`.

pub(crate) const CASES: &[(&str, &[&str])] = &[
    (
        "[shelf]\n\
         folder = \"\"\n\
         max_bytes = 5\n\
         max_upload_bytes = \"1M\"\n\
         ttl_s = 3000000\n\
         max_item = 3\n\
         [[upstream]]\n\
         name = \"shelf\"\n\
         command = [\"x\"]\n",
        &[
            "2:10 `folder` is empty | name a folder, or remove the line",
            "3:13 `max_bytes` is out of range | give it a value from 1024 to 1125899906842624; the default is 1073741824",
            "4:20 `max_upload_bytes` must be a whole number, not text | write a number from 1 to 1099511627776 without quotes",
            "5:1 `ttl_s` is more than `max_ttl_s` | lower `ttl_s` or raise `max_ttl_s`",
            "6:1 unknown key `max_item` | did you mean `max_items`?",
            "8:8 `shelf` is reserved for stored files | choose another name",
        ],
    ),
    (
        "servers = [\"lobby\"]\n\
     [approval]\n\
     wait_s = 3601\n\
     expires_s = \"1h\"\n\
     approvers = [\"admin\", \"role:ops\"]\n\
     wait = 5\n\
     [tools.lobby]\n\
     approve = \"echo\"\n\
     [prompts.lobby]\n\
     approve = [\"x\"]\n",
        &[
            "3:10 `wait_s` is out of range | give it a value from 0 to 3600; the default is 0",
            "4:13 `expires_s` must be a whole number, not text | write a number from 10 to 604800 without quotes",
            "5:14 this is not a caller | write `key:NAME`, `jwt:SUBJECT`, `role:NAME` or `anonymous`",
            "6:1 unknown key `wait` | did you mean `wait_s`?",
            "8:11 `approve` must be a list of text, not text | write it as approve = [\"echo\"]",
            "10:1 unknown key `approve` | the keys here are `allow`, `hide`, `rename`, `describe`",
        ],
    ),
    (
        "[approval]\n\
         approvers = []\n\
         [pin]\n\
         action = \"block\"\n\
         new_tools = \"hol\"\n\
         servers = { lobby = \"off\", fi = \"hold\", files = \"on\" }\n\
         [[upstream]]\n\
         name = \"files\"\n\
         command = [\"x\"]\n",
        &[
            "2:1 `approvers` is empty | name the approvers, such as [\"role:admin\"], or remove the line",
            "4:10 `action` must be one of: hold, warn, off | choose one of these values",
            "5:13 `new_tools` must be one of: allow, hold | did you mean `hold`?",
            "6:13 there is no upstream `lobby` | the upstreams of this file are `files`",
            "6:28 there is no upstream `fi` | the upstreams of this file are `files`",
            "6:49 `servers.files` must be one of: hold, warn, off | choose one of these values",
        ],
    ),
];
