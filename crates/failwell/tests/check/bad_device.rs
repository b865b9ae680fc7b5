//! Mistakes in `[device]`, and all that is said of each.

pub(crate) const CASES: &[(&str, &[&str])] = &[
    (
        "[[device.devices]]\n",
        &[
            "1:1 a device without a name | add name = \"…\": lowercase letters, digits, - and _",
            "1:1 a device without a driver | add driver = \"…\": `appium`, `webdriveragent`, `chromedriver` or `simctl`",
        ],
    ),
    (
        "[device]\n\
         apps = [\"./nowhere\"]\n\
         idle_s = 1\n\
         timout_s = 5\n\
         [[device.devices]]\n\
         name = \"a\"\n\
         driver = \"selenium\"\n\
         [[device.devices]]\n\
         name = \"a\"\n\
         driver = \"appium\"\n\
         url = \"http://farm.example/wd\"\n\
         command = [\"appium\"]\n\
         udid = \"1\"\n",
        &[
            "2:9 this is no folder for apps | name a folder that exists; it is taken from where this file is",
            "3:10 `idle_s` is out of range | give it a value from 5 to 86400; the default is 600",
            "4:1 unknown key `timout_s` | did you mean `timeout_s`?",
            "7:10 `driver` takes another word | use one of `appium`, `webdriveragent`, `chromedriver`, `simctl`",
            "9:8 `a` is the name of two devices | rename one of them",
            "11:1 a device with both `command` and `url` | keep `command` for a driver to start, or `url` for one that runs already",
            "11:7 `url` is not encrypted | begin it with https://, or name an address of this machine: what is typed is sent there",
            "13:8 `udid` goes with `simctl` alone | remove it, or write it among the capabilities as \"appium:udid\"",
        ],
    ),
    (
        "[[device.devices]]\n\
         name = \"A phone\"\n\
         driver = \"webdriveragent\"\n\
         [device.devices.capabilities]\n\
         \"farm:options\" = { key = \"${UNSET}\", deep = [\"SECRET\"] }\n\
         [[device.devices]]\n\
         name = \"sim\"\n\
         driver = \"simctl\"\n\
         url = \"http://127.0.0.1:1\"\n\
         udid = \"--help\"\n\
         env_pass = [\"A B\"]\n",
        &[
            "2:8 this cannot be the name of a device | use lowercase letters, digits, - and single _, beginning with a letter and not ending in _",
            "1:1 a device without the address of its driver | add url = \"http://127.0.0.1:8100\"",
            "5:1 the environment variable UNSET is not set | set it before the start: export UNSET=…",
            "9:1 `url` has no effect with `simctl` | remove it: simctl is a program of this machine",
            "10:8 this is no simulator | write the id `xcrun simctl list devices` shows, or booted",
            "11:13 this cannot be the name of a variable | use letters, digits and underscores, such as \"PATH\"",
        ],
    ),
];
