//! Mistakes in `[device]`, with all expected problems.

pub(crate) const CASES: &[(&str, &[&str])] = &[
    (
        "[[device.devices]]\n",
        &[
            "1:1 the device has no name | add name = \"…\": lowercase letters, digits, - and _",
            "1:1 the device has no driver | add driver = \"…\": `appium`, `webdriveragent`, `chromedriver` or `simctl`",
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
            "2:9 this is not a folder | name a folder that exists; relative paths start at the folder of this file",
            "3:10 `idle_s` is out of range | give it a value from 5 to 86400; the default is 600",
            "4:1 unknown key `timout_s` | did you mean `timeout_s`?",
            "7:10 `driver` must be one of: appium, webdriveragent, chromedriver, simctl | choose one of these values",
            "9:8 `a` is the name of two devices | rename one of them",
            "11:1 the device has both `command` and `url` | keep `command` for a driver to start, or `url` for one that already runs",
            "11:7 `url` is not encrypted | begin it with https://, or use an address of this machine: typed text is sent there",
            "13:8 `udid` needs the driver `simctl` | remove it, or write it among the capabilities as \"appium:udid\"",
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
            "1:1 the device has no driver address | add url = \"http://127.0.0.1:8100\"",
            "2:8 this cannot be the name of a device | use lowercase letters, digits, - and single _, beginning with a letter and not ending in _",
            "5:1 the environment variable UNSET is not set | set it before the start: export UNSET=…",
            "9:1 `url` has no effect with `simctl` | remove it: simctl is a program of this machine",
            "10:8 this is not the id of a simulator | write the id `xcrun simctl list devices` shows, or booted",
            "11:13 this cannot be the name of a variable | use letters, digits and underscores, such as \"PATH\"",
        ],
    ),
];
